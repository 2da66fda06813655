"""What Tetrarium promises – in the README, the tools and the specification – and the tests that hold it to each.

`tests/unit/test_promises.py` checks both directions: every test named here exists, and every test of a
journey, a fault or the window is named by some promise. A name is "file::test", "file::*" for a whole file.
"""

from __future__ import annotations

RELAY = "journeys/test_relay.py::"
JOURNEYS = "journeys/test_memories.py::"
MCP = "journeys/test_mcp.py::"
WIRE = "journeys/test_mcp_wire.py::"
CLI = "journeys/test_cli.py::"
FAULTS = "faults/test_storage_faults.py::"
WINDOW = "gui/test_window.py::"

PROMISES: dict[str, tuple[str, ...]] = {
    "A question in English or Chinese finds its memory, by words, by meaning, by identifier.": (
        JOURNEYS + "test_a_question_in_either_language_finds_its_memory_first",
        JOURNEYS + "test_a_space_with_one_memory_answers_its_own_question",
        JOURNEYS + "test_the_sample_space_tells_a_story_that_can_be_asked",
        "unit/test_tokens.py::*",
        "unit/test_keywords.py::*",
    ),
    "No question, however odd, breaks search or recall, and every read works on an empty space.": (
        JOURNEYS + "test_no_question_breaks_search_or_recall",
        JOURNEYS + "test_every_read_works_on_an_empty_space",
        MCP + "test_an_empty_space_answers_every_reading_tool",
        CLI + "test_an_empty_space_answers_every_reading_command",
        WINDOW + "test_an_empty_space_says_what_will_appear",
    ),
    "Stored means on disk: what was acknowledged survives a kill, a restart and a full disk.": (
        JOURNEYS + "test_what_was_stored_is_there_after_a_restart",
        FAULTS + "test_what_was_acknowledged_survives_a_kill",
        FAULTS + "test_a_full_disk_refuses_the_store_keeps_everything_and_goes_on_afterwards",
        FAULTS + "test_a_failing_disk_is_said_and_nothing_half_is_left",
        WIRE + "test_sigterm_closes_the_store_and_what_was_acknowledged_stays",
    ),
    "What cannot be used is refused with a sentence on what to do, and stays untouched.": (
        FAULTS + "test_a_folder_that_cannot_be_made_is_said",
        FAULTS + "test_a_space_of_a_newer_tetrarium_is_refused_untouched",
        FAULTS + "test_what_is_no_space_is_never_overwritten",
        FAULTS + "test_another_programs_database_is_left_alone",
        FAULTS + "test_a_file_that_holds_no_table_yet_is_made_into_a_space",
        FAULTS + "test_a_space_in_a_read_only_folder_is_read_and_never_written",
        WIRE + "test_a_folder_that_cannot_be_a_space_is_explained_in_every_call",
        WINDOW + "test_a_space_that_cannot_be_opened_is_told_without_blocking",
        CLI + "test_what_cannot_be_done_is_said_on_standard_error",
    ),
    "Texts of any kind and size come back as they went in, or are refused by name.": (
        FAULTS + "test_a_megabyte_is_stored_whole_and_ten_are_refused",
        FAULTS + "test_hostile_and_foreign_texts_come_back_as_they_went_in",
        WIRE + "test_text_keeps_every_character_under_a_c_locale_and_a_windows_code_page",
        WIRE + "test_half_a_character_is_refused_by_name_and_nothing_is_stored",
        WIRE + "test_a_megabyte_is_stored_whole_and_recalled_whole",
        CLI + "test_output_is_utf_8_whatever_the_locale_says",
        CLI + "test_input_that_is_not_utf_8_is_refused",
    ),
    "Reads never wait for a writer and write nothing themselves.": (
        FAULTS + "test_reads_go_on_while_another_program_holds_the_write_lock",
        JOURNEYS + "test_a_recall_is_counted_later_and_raises_confidence",
        JOURNEYS + "test_asking_again_and_again_does_not_change_the_ranking",
    ),
    "A correction takes the old memory out of every answer, for good and reversibly.": (
        JOURNEYS + "test_a_correction_takes_the_old_memory_out_of_every_answer",
        JOURNEYS + "test_a_chain_of_corrections_leaves_only_the_last",
        JOURNEYS + "test_a_released_memory_is_answered_as_before_to_the_last_bit",
        JOURNEYS + "test_an_unknown_target_of_a_correction_changes_nothing",
        JOURNEYS + "test_the_text_of_an_inhibited_memory_comes_back_only_by_force",
        "properties/test_memory_properties.py::test_any_life_of_a_space_keeps_its_promises",
    ),
    "Deduplication never destroys: noise is refused with a reason, the same text becomes a version, a retry is one memory.": (
        JOURNEYS + "test_the_same_text_again_is_one_memory_and_loses_nothing",
        JOURNEYS + "test_facts_that_differ_in_a_number_stay_two_memories",
        JOURNEYS + "test_a_retried_store_gets_the_first_answer_again",
        JOURNEYS + "test_a_key_of_one_project_or_text_never_answers_for_another",
        JOURNEYS + "test_noise_is_answered_with_the_reason_and_not_stored",
        MCP + "test_noise_is_answered_not_stored_and_a_repetition_is_merged",
        MCP + "test_a_retried_store_with_its_key_stores_nothing_twice",
        CLI + "test_noise_gives_exit_code_1_and_the_reason",
        "unit/test_ingest.py::*",
    ),
    "A question on what the space does not know is answered with nothing, and the reason.": (
        JOURNEYS + "test_a_subject_that_the_space_does_not_know_is_answered_with_nothing_and_the_reason",
        "unit/test_evidence.py::*",
    ),
    "Without the model it works by keywords and says so; what was stored then is embedded later.": (
        JOURNEYS + "test_a_memory_stored_without_the_model_is_found_by_meaning_once_it_is_back",
    ),
    "An edit keeps the text before; a stale one is refused with both texts.": (
        JOURNEYS + "test_an_edit_is_found_by_its_new_words_only_and_keeps_the_old_text_as_a_version",
        JOURNEYS + "test_a_stale_edit_is_refused_with_both_texts",
    ),
    "Forgetting goes to the trash first; forgotten for good leaves no byte.": (
        JOURNEYS + "test_a_forgotten_memory_is_nowhere_and_comes_back_from_the_trash",
        JOURNEYS + "test_what_is_forgotten_permanently_leaves_no_byte_in_the_folder",
        JOURNEYS + "test_an_expired_memory_leaves_every_answer_at_once_and_may_be_said_again",
    ),
    "Filters are exact, and projects are apart.": (
        JOURNEYS + "test_filters_are_exact",
        JOURNEYS + "test_a_project_sees_its_own_and_the_global_memories_and_a_stranger_the_global_ones",
        JOURNEYS + "test_one_project_cannot_silence_the_memory_of_another",
        MCP + "test_search_filters_and_pages",
        MCP + "test_a_client_sees_its_own_project_and_what_all_share",
        WIRE + "test_the_project_comes_from_the_option_else_from_the_ides_folder",
    ),
    "An answer fits its budget with whole memories, and names the best one that did not fit.": (
        JOURNEYS + "test_a_budget_is_never_exceeded_and_the_best_memory_that_did_not_fit_is_named",
        JOURNEYS + "test_a_budget_that_cannot_be_used_is_refused",
        MCP + "test_default_lists_stay_short_and_a_budget_is_never_exceeded",
        "properties/test_memory_properties.py::test_a_budget_is_never_exceeded_and_nothing_that_fits_at_its_turn_is_left_out",
    ),
    "Off-topic clusters are carved away whole, and every candidate has one state and one reason.": (
        JOURNEYS + "test_every_candidate_of_a_recall_has_one_state_and_one_reason",
        JOURNEYS + "test_score_parts_multiply_to_the_score",
        "unit/test_voids.py::*",
        WINDOW + "test_a_recall_shows_its_zones_its_budget_and_its_reasons",
    ),
    "Memories stand on the octet lattice: no overlap, shared vertices make clusters, a rebuild is identical.": (
        "unit/test_geometry_lattice.py::*",
        "unit/test_geometry_placement.py::*",
        "unit/test_geometry_similarity.py::*",
        "unit/test_geometry_clusters.py::*",
        "properties/test_geometry_properties.py::*",
    ),
    "Clusters are named, walked, split, merged and settled by plans that can be seen, logged and undone exactly; a "
    "damaged table of places is found and mended; a picture of the space comes in a blink and changes row by row.": (
        "unit/test_geometry_plans.py::*",
        "properties/test_cluster_properties.py::*",
        "journeys/test_clusters.py::*",
        "journeys/test_snapshots.py::*",
        "faults/test_damaged_places.py::*",
        CLI + "test_clusters_are_listed_named_rearranged_and_taken_back",
    ),
    "What belongs together is stated with memory_link, taken back, and walked with knowledge_relations, where every edge says where it comes from.": (
        "journeys/test_relations.py::*",
    ),
    "Several programs may use one space at once; each sees what the others store.": (
        JOURNEYS + "test_two_programs_on_one_space_see_each_others_memories",
        JOURNEYS + "test_listeners_hear_of_stores_and_recalls",
        WINDOW + "test_what_another_process_stores_appears_by_itself",
    ),
    "memory_create, memory_search, void_store, void_recall and void_stats work in both protocol eras.": (
        MCP + "test_what_is_stored_is_recalled_corrected_and_found",
        MCP + "test_malformed_calls_are_refused_with_advice_and_change_nothing",
        "journeys/test_mcp_schemas.py::*",
        "unit/test_tools.py::*",
        "unit/test_tools_arguments.py::*",
        "unit/test_tools_answers.py::*",
    ),
    "memory_recall gathers by use, void_zones and void_explain tell why or why not, decision_record and pattern_learn keep "
    "their form, memory_update, memory_forget and memory_feedback correct: previewed, reversible, trusted.": (
        "unit/test_correction.py::*",
        "journeys/test_corrections.py::*",
        "journeys/test_explain.py::*",
        "journeys/test_void_peer_rows.py::*",
        "journeys/test_field_reports.py::*",
        "journeys/test_corrections.py::*",
        "journeys/test_explain.py::*",
    ),
    "Standard output belongs to the protocol; a request with a legible id is always answered.": (
        WIRE + "test_only_the_protocol_leaves_on_standard_output_also_with_debug_logging_and_at_the_end",
        WIRE + "test_a_request_that_cannot_be_read_is_answered_all_the_same",
        WIRE + "test_deep_but_readable_arguments_are_refused_by_name",
        WIRE + "test_nonsense_is_answered_wherever_its_id_is_legible_and_never_stops_the_endpoint",
        WIRE + "test_a_line_beyond_the_limit_is_refused_and_the_next_one_served",
        WIRE + "test_calls_under_way_are_answered_after_the_client_closed_its_side",
    ),
    "The endpoint answers before the engine is warm and leaves with its client.": (
        WIRE + "test_the_tool_list_is_out_before_the_engine_is_loaded",
        WIRE + "test_it_leaves_within_five_seconds_of_the_end_of_its_input",
        WIRE + "test_it_leaves_when_nobody_reads_its_answers_any_more",
        WIRE + "test_it_leaves_when_the_program_that_started_it_dies_although_its_input_stays_open",
        WIRE + "test_version_and_mistakes_are_answered_before_the_protocol_begins",
    ),
    "tetrarium store, search, recall, stats and demo serve scripts.": (
        CLI + "test_a_memory_is_stored_found_recalled_corrected_and_counted",
        CLI + "test_answers_are_readable_without_json",
        CLI + "test_the_folder_may_be_named_before_the_command_or_after_it",
        CLI + "test_text_comes_from_standard_input_when_it_is_missing_or_a_dash",
        CLI + "test_several_memories_come_as_json_lines",
        CLI + "test_a_bad_json_line_is_named_and_the_lines_before_it_stay",
        CLI + "test_a_reader_that_leaves_early_is_no_error",
        CLI + "test_the_demo_fills_a_space_once_and_answers_three_questions",
        CLI + "test_a_missing_text_on_a_terminal_is_a_mistake",
        CLI + "test_a_command_that_only_reads_says_that_it_made_the_space",
        CLI + "test_a_folder_whose_name_is_no_text_is_refused_in_one_line",
        CLI + "test_an_export_overwrites_no_file_unless_it_is_forced",
        CLI + "test_a_page_that_is_shorter_than_asked_says_why",
        "gui/test_start.py::test_a_subcommand_never_imports_qt",
        "gui/test_start.py::test_help_tells_both_ways",
        "gui/test_start.py::test_the_help_names_every_command_and_imports_no_qt",
    ),
    "The window shows every memory; click, hover, list and search belong together.": (
        WINDOW + "test_the_window_shows_every_memory_of_the_sample",
        WINDOW + "test_a_sample_space_is_seen_growing_while_it_is_filled",
        WINDOW + "test_a_click_in_the_space_shows_the_memory_in_inspector_and_list",
        WINDOW + "test_a_row_of_the_list_selects_in_the_space",
        WINDOW + "test_every_panel_has_one_tab_and_no_tab_bar_is_left_behind",
        WINDOW + "test_a_click_in_the_list_marks_that_row_and_moves_nothing",
        WINDOW + "test_choosing_a_memory_uncovers_the_inspector_and_following_one_does_not",
        WINDOW + "test_searching_as_you_type_lights_the_hits_and_ends_with_the_last_words",
        WINDOW + "test_an_answer_that_a_newer_question_has_overtaken_is_dropped",
        WINDOW + "test_every_command_is_found_by_its_words",
        WINDOW + "test_the_first_window_fits_the_screen_and_the_view_menu_is_short",
        WINDOW + "test_help_lists_every_shortcut_explains_voids_and_tells_what_program_this_is",
        WINDOW + "test_no_two_commands_share_a_shortcut",
        WINDOW + "test_only_the_space_and_back",
        WINDOW + "test_both_appearances_can_be_chosen_and_stay",
        WINDOW + "test_closing_remembers_the_layout_and_ends_the_engine",
        "gui/test_space_pixels.py::*",
        "gui/test_scene.py::*",
    ),
    "Memory text is shown as plain text only.": (WINDOW + "test_text_of_a_memory_is_never_read_as_markup",),
    "Without a display or OpenGL it says so or draws flat, and it ends cleanly.": (
        "gui/test_start.py::test_without_a_display_it_says_so_and_ends_with_3",
        "gui/test_start.py::test_a_terminated_program_closes_its_space_and_ends_well",
        "gui/test_start.py::test_an_engine_that_does_not_end_in_time_ends_with_the_program",
        "gui/test_start.py::test_the_qt_binding_gives_back_what_it_borrows",
        "gui/test_space_pixels.py::test_without_opengl_the_same_memories_are_drawn_flat",
    ),
    "Another model is a folder and a setting away; a damaged one leaves keyword search.": (
        "unit/test_embedding.py::*",
    ),
    "Exact search and HNSW find the same; a damaged index file is never used.": ("unit/test_vectors.py::*",),
    "A person writes and corrects in the window: new, edited with the text before kept, superseded, inhibited with a reason, released, put "
    "into the trash and back; a change by somebody else meanwhile shows both texts; no text is lost or slows the window.": (
        "gui/test_editing.py::*",
    ),
    "The window speaks English and Chinese from one catalogue, and shows no text of a memory as markup.": (
        "unit/test_words.py::*",
    ),
    "Every read and write is noted: who, what, when, how many; never content; reads write nothing themselves.": (
        "journeys/test_audit.py::test_every_read_and_write_is_noted_in_order_with_who_and_how_many",
        "journeys/test_audit.py::test_the_audit_holds_no_content_no_question_and_no_id",
        "journeys/test_audit.py::test_a_read_writes_nothing_and_is_noted_in_a_quiet_moment_or_before_the_next_write",
        "journeys/test_audit.py::test_a_write_that_fails_is_not_noted_and_takes_no_read_with_it",
        "journeys/test_audit.py::test_two_programs_write_one_chain",
        "journeys/test_audit.py::test_a_tools_call_is_noted_under_its_client",
        "journeys/test_audit.py::test_every_verb_of_the_door_is_sorted_into_reads_writes_and_the_rest",
    ),
    "A row of the audit that was altered, dropped, reordered or cut off is found at the first bad one; unusual behaviour is flagged.": (
        "journeys/test_audit.py::test_tampering_is_found_at_the_first_bad_row",
        "journeys/test_audit.py::test_the_audit_goes_on_when_the_space_goes_back_to_a_backup",
        "journeys/test_audit.py::test_an_anchor_kept_elsewhere_proves_what_the_folder_alone_cannot",
        "journeys/test_audit.py::test_mass_reads_mass_deletions_and_bursts_of_inhibition_are_flagged",
        "journeys/test_audit.py::test_the_command_line_lists_proves_and_flags",
    ),
    "An encrypted space leaves no plain text in any file; encrypting, decrypting and changing the key keep every byte of the truth.": (
        "journeys/test_encryption.py::test_an_encrypted_space_leaves_no_plain_text_in_any_file",
        "journeys/test_encryption.py::test_a_deletion_is_proved_by_what_the_encrypted_files_hold_and_not_by_their_cipher",
        "journeys/test_encryption.py::test_a_killed_program_leaves_no_plain_text_behind",
        "journeys/test_encryption.py::test_encrypting_changing_the_key_and_decrypting_keep_every_byte_of_the_truth",
        "journeys/test_encryption.py::test_an_encryption_or_a_change_of_key_that_was_cut_short_opens",
        "journeys/test_encryption.py::test_nothing_is_encrypted_while_another_program_has_the_space_open",
        "journeys/test_encryption.py::test_nobody_can_store_into_a_file_that_is_being_encrypted",
    ),
    "A space can be given another key right after an agent has used it: an idle host is asked to end; one with clients is named "
    "and left alone.": (
        "journeys/test_clearing.py::*",
        "gui/test_privacy.py::test_a_space_that_an_agent_has_used_is_encrypted_in_the_window_as_soon_as_the_agent_has_left",
    ),
    "A key that is missing, wrong, lost or of another space is said with what to do; an unsafe keychain is recognised.": (
        "journeys/test_encryption.py::test_a_missing_or_wrong_key_is_said_with_what_to_do_and_nothing_changes",
        "journeys/test_encryption.py::test_files_of_two_encrypted_spaces_cannot_be_exchanged",
        "journeys/test_encryption.py::test_a_changed_byte_of_an_encrypted_picture_is_noticed",
        "journeys/test_encryption.py::test_what_cannot_be_encrypted_or_decrypted_is_refused_by_name",
        "journeys/test_encryption.py::test_a_space_opens_with_the_keychains_key_without_asking_and_is_lost_with_it",
        "journeys/test_encryption.py::test_a_keychain_that_keeps_nothing_or_keeps_it_in_the_open_is_recognised",
        "journeys/test_encryption.py::test_the_command_line_encrypts_and_a_headless_program_needs_its_passphrase",
        "journeys/test_encryption.py::test_without_room_for_every_file_nothing_is_encrypted_and_no_backup_is_lost",
        "journeys/test_encryption.py::test_no_connection_puts_anything_aside_in_a_folder_of_the_systems",
        "journeys/test_encryption.py::test_a_passphrase_file_that_others_can_read_is_refused_and_its_words_are_in_no_message",
        "journeys/test_encryption.py::test_an_ide_opens_an_encrypted_space_by_the_file_that_its_entry_names",
    ),
    "A knowledge graph of another memory server, and what agents keep in Markdown, come in by the same way: seen first, masked, "
    "screened, once, and taken back.": ("journeys/test_peers.py::*",),
    "An export holds the whole truth; taken into an empty space it exports to the same bytes and answers the same.": (
        "journeys/test_exchange.py::test_an_export_of_everything_reads_no_index_and_is_the_same",
        "journeys/test_exchange.py::test_an_export_taken_into_an_empty_space_exports_to_the_same_bytes_and_answers_the_same",
        "journeys/test_exchange.py::test_the_format_knows_every_table_of_the_store",
        "journeys/test_exchange.py::test_a_packed_export_comes_back_whole",
        "journeys/test_exchange.py::test_an_export_for_reading_quotes_every_text",
        "properties/test_exchange_properties.py::test_any_space_comes_back_from_its_export_byte_for_byte",
        "unit/test_exchange_format.py::*",
    ),
    "An export can be filtered, put under pseudonyms, and hides each person among k or says no.": (
        "journeys/test_exchange.py::test_a_filtered_export_holds_what_passes_and_names_nothing_else",
        "journeys/test_exchange.py::test_a_pseudonymous_export_holds_no_name_and_stays_consistent",
        "journeys/test_exchange.py::test_each_person_is_hidden_among_k_or_the_export_says_no",
    ),
    "An import shows first what it would do, takes all or nothing, changes nothing that is there, and can be undone.": (
        "journeys/test_exchange.py::test_undoing_an_import_takes_out_exactly_what_it_brought",
        "journeys/test_exchange.py::test_an_import_changes_nothing_that_is_there",
        "journeys/test_exchange.py::test_a_foreign_file_brings_no_secret_and_no_instruction_into_the_answers",
        "journeys/test_exchange.py::test_nobody_in_a_foreign_file_counts_as_a_person",
        "journeys/test_exchange.py::test_the_command_line_exports_previews_imports_and_undoes",
    ),
    "A file to import that is cut, changed, damaged, hostile or a bomb is refused, by line where that helps.": (
        "journeys/test_exchange.py::test_a_file_that_is_cut_changed_or_no_export_is_refused_whole",
        "journeys/test_exchange.py::test_lines_that_cannot_be_are_refused_by_number_and_all_or_nothing_is_taken",
        "journeys/test_exchange.py::test_bombs_are_refused_within_bounds",
    ),
    "What a search or recall found can be seen at any distance: lit, framed, named, pointed at from the edge; the camera never "
    "moves against a hand that moved it, and comes back.": ("gui/test_hits.py::*",),
    "A space of any size stays smooth: detail goes with distance, a small cluster is one body with its name and number, and "
    "software rendering draws less while the camera moves.": ("gui/test_detail.py::*",),
    "Everything that was done stands in history and can be taken back, whole or not at all, also after a restart; all that "
    "one client did, after a preview; only a deletion for good has no way back, and leaves no text there.": (
        "journeys/test_history.py::*",
    ),
    "A space of any earlier schema opens with all that it held.": ("faults/test_migrations.py::*",),
    "The trash and every correction are listed, many memories are changed in one step, what is let through is never void, and "
    "a recall can be asked again under other premises.": ("journeys/test_curating.py::*",),
    "Memories, topics, recalls and the health of the space are resources: quoted, with their source; inhibited words never unsaid.": (
        "journeys/test_mcp_resources.py::*",
    ),
    "session_start, session_end and review are prompts with real memories in them; what a person types is completed.": (
        "journeys/test_mcp_prompts.py::*",
    ),
    "A call that takes long gives signs of life, and one that is cancelled before it runs is not run.": (
        "journeys/test_mcp_long_calls.py::*",
    ),
    "Every panel answers to real clicks: a recall replayed and explained, voids let through, dials with their effect, edges "
    "compared and lifted, many memories at once with a preview, an agent followed live, topics, time, health, export, pictures; "
    "and every change is undone, after a restart too.": ("gui/test_panels.py::*",),
    "A person sees in the window who read and wrote what, that no row of it is missing, what is unusual and what was masked, never what "
    "it was; decides about secrets, exclusions and the key; and has a deletion proved.": ("gui/test_privacy.py::*",),
    "A search is narrowed by chips that are typed, completed, clicked and taken away by keys; its hits are walked through, its colours "
    "explained, and earlier questions come back; filters alone list what passes them.": (
        "gui/test_search.py::*",
        "journeys/test_memories.py::test_filters_without_words_list_what_passes_them_newest_first",
    ),
    "A wrong memory is found and put right, an answer explained and a void let through, a memory superseded, undone, and undone "
    "again after a restart, many deleted and restored, a chain of corrections told: with mouse and keys, seen on the pixels.": (
        "gui/test_journeys.py::*",
    ),
    "Tab, arrows and Enter reach and do everything in every panel, and every control has a name for a screen reader.": (
        "gui/test_keyboard.py::*",
    ),
    "The window in Chinese says everything in Chinese: errors, reasons, findings and history of the engine too.": (
        "gui/test_chinese.py::*",
        "unit/test_sentences.py::*",
    ),
    "The protocol is kept as others judge it: the official suite at 2025-11-25 and 2026-07-28, the Inspector, the TypeScript SDK.": (
        "conformance/test_conformance.py::*",
    ),
    "An IDE is connected without one foreign byte of its configuration changing, and taken off to the very bytes.": (
        "journeys/test_connect.py::*",
        "unit/test_connect_jsonc.py::*",
        "properties/test_connect_properties.py::*",
    ),
    "A session starts with what its project knows and ends with what was learnt kept, and no hook makes anybody wait.": (
        "journeys/test_hooks.py::*",
    ),
    "Classes of one legend are told apart by eyes that lack red or green too, and states by pattern as well as by colour.": (
        "unit/test_palettes.py::*",
        "gui/test_space_pixels.py::test_void_loses_its_hue_and_inhibited_is_hatched",
        "gui/test_space_pixels.py::test_what_waits_in_quarantine_has_a_dashed_amber_edge",
    ),
    "The timeline tells when, of what kind, how sure and how important memories are; its charts filter each other and the space, "
    "and the growth of the space is replayed in twelve seconds at most; Esc shows all.": ("gui/test_timeline.py::*",),
    "Axes in the corner tell which way is up and turn the view by a click; the mouse works as in other programs; views are kept; "
    "the way between two memories is drawn.": ("gui/test_looking.py::*",),
    "Motion explains what happened – growth, moves, succession –, ends by itself, uploads nothing, and is off where motion is "
    "reduced.": ("gui/test_motion.py::*",),
    "Many memories are chosen by box, lasso or neighbourhood, shown alone or hidden, and coloured by what they are; a legend filters.": (
        "gui/test_choosing.py::*",
    ),
    "A renamed folder, a newer program, another space's backup, a link, a limit on files or a changed bit in a definition: said, "
    "and nothing is lost or left behind.": ("faults/test_adversary.py::*",),
    "What other programs read, store or decide while a space goes back to a backup is lost to nobody, and no embedding outlives "
    "the words it was made of.": ("faults/test_restore_races.py::*",),
    "A space that has lived through anything ranks as the same space opened anew.": (
        "properties/test_reopened_properties.py::*",
    ),
    "Copies are made daily, before migrations, large deletions and large rearrangements, each one moment of the space, checked "
    "and rotated; a person goes back to one, whole or for one memory, after a preview, and can undo that.": (
        "journeys/test_backups.py::*",
    ),
    "An empty space offers a sample, an import and the connection of an IDE, each shown before it happens; spaces and languages "
    "change in place; the sample is a space of its own, with the way back told; all of it goes by the keyboard, and it closes well at any moment.": (
        "gui/test_beginnings.py::*",
    ),
    "All clients of a space share one host; when it is killed, asked to end or updated, no client notices and nothing is lost or written twice.": (
        RELAY + "test_clients_that_start_together_share_one_host_and_lose_nothing",
        RELAY + "test_a_killed_host_is_replaced_without_the_client_noticing",
        RELAY + "test_the_official_client_survives_its_host_in_both_eras",
        RELAY + "test_what_a_client_watches_is_watched_by_the_next_host_too",
        RELAY + "test_a_host_that_is_asked_to_end_hands_its_clients_on",
        RELAY + "test_an_older_host_makes_room_for_a_newer_one",
        RELAY + "test_what_a_crashed_host_left_behind_is_no_owner",
        RELAY + "test_where_no_host_can_be_shared_the_client_gets_one_of_its_own",
        RELAY + "test_every_spelling_of_a_folder_is_one_space",
        "journeys/test_repeating.py::*",
        "unit/test_ledger.py::*",
        "unit/test_meeting.py::*",
    ),
    "An agent and the window share a space, and neither needs the other.": ("gui/test_beside_agents.py::*",),
    "An agent is followed live: the feed says who did what, a recall lights its memories and opens in Voids as the agent got it, "
    "through the death of a host, and for agents with an engine of their own by the audit; a person's own search is never taken away.": (
        "gui/test_following.py::*",
    ),
    "The bar on top says which space this is, how many agents are connected and whether all is well, leads to each by a click or by the "
    "keyboard, and switches spaces.": ("gui/test_top_bar.py::*",),
    "Where there is a tray, it tells who is connected, and keeps the closed window only if the person chose that; nothing needs one.": (
        "gui/test_tray.py::*",
    ),
    "A window of the same user is told by the host who is connected and exactly what each of them got; it keeps no host alive, "
    "slows nobody, and what either end says is input to the other.": (
        "journeys/test_watching.py::*",
        "unit/test_watcher.py::*",
    ),
    "What an IDE starts is the standard library alone; the host outlives the IDE and ends when nobody wants it any more.": (
        RELAY + "test_a_relay_loads_the_standard_library_and_nothing_else",
        RELAY + "test_a_host_survives_the_process_group_and_the_process_tree_of_its_client",
        RELAY + "test_many_calls_leave_no_descriptor_open",
    ),
    "A client that floods, falls silent, dies or talks nonsense harms itself only.": (
        RELAY + "test_a_client_that_stops_reading_stops_nobody_else",
        RELAY + "test_sixty_four_interleaved_calls_a_storm_of_cancels_and_ids_used_twice",
        RELAY + "test_a_client_that_is_killed_in_the_middle_of_a_call_harms_nobody",
        RELAY + "test_a_client_that_writes_in_circles_is_told_to_wait_and_still_may_read",
        "unit/test_lane.py::*",
        "unit/test_lines.py::*",
    ),
    "Whoever watches a resource hears of its change from any client, also after the host was killed.": (
        "journeys/test_mcp_notices.py::*",
    ),
    "Damaged rows, indexes and backups are never answered from; the doctor finds them, changes nothing unless told, and puts "
    "right what is certain from backups and history.": ("faults/test_doctor.py::*",),
    "A crash among the copies of a space costs none of them, and keeps no deletion for good waiting.": (
        "faults/test_copies_cut_short.py::*",
    ),
    "The check of a store calls nothing damaged because somebody stores meanwhile.": (
        "faults/test_checks_beside_writers.py::*",
    ),
    "Whatever write, sync or rename fails, the disk is full, the permissions go or the clock jumps: it is said, reads go on, "
    "nothing acknowledged is lost, nothing expires for good, and a full disk still lets memories go.": (
        "faults/test_durability.py::*",
    ),
    "A long memory is found by each thing it says, to the last sentence.": ("journeys/test_long_memories.py::*",),
    "A mistyped identifier is read as the one it nearly names, and the answer says so.": ("journeys/test_slips.py::*",),
    "A person's own model may order the best memories; its failure never fails a recall, and secrets never reach it.": (
        "journeys/test_reranker.py::*",
    ),
    "However often a space is asked, its best answers stay; hubs are damped; each client's last recalls are kept.": (
        "journeys/test_recall_over_time.py::*",
    ),
    "Secrets never enter: masked in every field, question and list before anything is stored, embedded, logged or hashed; told in the "
    "answer; refused or allowed where a person says so; those that are there already are counted, masked and erased.": (
        "unit/test_secrets.py::*",
        "journeys/test_privacy.py::test_a_secret_is_masked_in_every_field_before_anything_is_kept",
        "journeys/test_privacy.py::test_a_secret_in_a_project_or_in_the_name_of_a_client_is_masked_and_the_project_is_found",
        "journeys/test_privacy.py::test_an_agent_is_told_what_was_masked_also_of_an_edit_and_finds_its_project_again",
        "journeys/test_privacy.py::test_two_texts_that_differ_in_a_secret_only_are_one_memory",
        "journeys/test_privacy.py::test_a_space_may_refuse_secrets_or_allow_them",
        "journeys/test_privacy.py::test_secrets_that_are_stored_already_are_counted_masked_and_erased",
        "journeys/test_privacy.py::test_secrets_and_orders_of_a_foreign_file_are_caught_on_the_way_in",
        "journeys/test_guarding_cli.py::*",
    ),
    "What reads like an instruction to an agent waits in quarantine for a person and reaches no agent; what a person excludes is "
    "never stored; no importance lifts a less trusted memory over a more trusted one.": (
        "unit/test_instructions.py::*",
        "journeys/test_privacy.py::test_what_reads_like_an_order_waits_for_a_person_and_no_agent_sees_it",
        "journeys/test_privacy.py::test_a_quarantine_outlives_a_restart_the_trash_and_a_repetition",
        "journeys/test_privacy.py::test_a_person_may_say_what_an_agent_may_not",
        "journeys/test_privacy.py::test_what_a_person_excludes_is_never_stored_and_can_be_tried_first",
        "journeys/test_privacy.py::test_no_importance_lifts_a_less_trusted_memory_over_a_more_trusted_one",
    ),
    "Erased for good means no byte in any file of the space, backups too, also after a kill in the middle, and `prove-deleted` shows "
    "it; trash and expiry are erased after their time, never at a leap of the clock and never in bulk.": (
        "faults/test_erasure.py::*",
    ),
    "Looking at the bytes of a store never costs another program's view of who has it open.": (
        "faults/test_raw_reading.py::*",
    ),
}
