// One working day of a client of the TypeScript SDK against tetrarium-mcp; prints what it saw as JSON.
//
//     node typescript_client.mjs legacy|modern NODE_MODULES command args …

import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [era, modules, command, ...args] = process.argv.slice(2);
const load = (...parts) => import(pathToFileURL(join(modules, "@modelcontextprotocol", ...parts)));

async function oldClient() {
  const { Client } = await load("sdk", "dist", "esm", "client", "index.js");
  const { StdioClientTransport } = await load("sdk", "dist", "esm", "client", "stdio.js");
  const types = await load("sdk", "dist", "esm", "types.js");
  const client = new Client({ name: "typescript", version: "1" });
  return {
    client,
    transport: new StdioClientTransport({ command, args, env: process.env }),
    hear: (update) => client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, update),
    watch: (uri) => client.subscribeResource({ uri }),
  };
}

async function newClient() {
  const { Client } = await load("client", "dist", "index.mjs");
  const { StdioClientTransport } = await load("client", "dist", "stdio.mjs");
  const client = new Client({ name: "typescript", version: "2" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  return {
    client,
    transport: new StdioClientTransport({ command, args, env: process.env }),
    hear: (update) => client.setNotificationHandler("notifications/resources/updated", update),
    watch: (uri) => client.listen({ resourceSubscriptions: [uri] }),
  };
}

const { client, transport, hear, watch } = await (era === "legacy" ? oldClient() : newClient());
const updated = new Promise((resolve) => hear((notice) => resolve(notice.params.uri)));
await client.connect(transport);

const { tools } = await client.listTools();
const content = "The gateway retries twice, because the upstream drops one request in a hundred.";
const stored = (await client.callTool({ name: "memory_create", arguments: { content, labels: ["gateway"] } })).structuredContent;
const recalled = (await client.callTool({ name: "void_recall", arguments: { query: "How often does the gateway retry?" } })).structuredContent;
const uri = `memory://item/${stored.id}`;
const resources = (await client.listResources()).resources.map((resource) => resource.uri);
const templates = (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate);
const read = (await client.readResource({ uri })).contents[0].text;
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const prompt = await client.getPrompt({ name: "session_start", arguments: { task: "gateway retries" } });
const completed = await client.complete({ ref: { type: "ref/prompt", name: "review" }, argument: { name: "label", value: "g" } });
const refused = await client.readResource({ uri: "memory://item/NONE" }).then(() => null, (error) => error.code);
await watch(uri);
await client.callTool({ name: "memory_update", arguments: { id: stored.id, importance: 0.9 } });

console.log(JSON.stringify({
  server: client.getServerVersion()?.name,
  tools: tools.length,
  stored: stored.outcome,
  recalled: recalled.blocks.map((block) => block.id),
  id: stored.id,
  listed: resources.includes(uri),
  templates,
  read: read.includes(content),
  prompts,
  embedded: prompt.messages.filter((message) => message.content.type === "resource").map((message) => message.content.resource.uri),
  completed: completed.completion.values,
  refused,
  updated: await updated,
}));
await client.close();
