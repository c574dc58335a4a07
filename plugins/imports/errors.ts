import { errorsOf, type PluginError } from "#plugin"

const content = (title: string, meaning: string): PluginError => ({ status: 422, title, meaning })
const state = (title: string, meaning: string): PluginError => ({ status: 409, title, meaning })

/** Error codes of imports. */
export const ERRORS = {
  import_not_found: { status: 404, title: "The import was not found", meaning: "The site has no import with this id." },
  upload_not_found: {
    status: 404,
    title: "The upload was not found",
    meaning: "You have no upload with this id. Uploads are kept for 24 hours.",
  },
  unrecognized_source: content(
    "The files were not recognized",
    "None of the files is an export that Footfall can read. The detail names the files and the sources that are available.",
  ),
  unsupported_version: content(
    "The version of the file is not supported",
    "The detail names the version and how to make a file that can be read.",
  ),
  missing_columns: content("Columns are missing", "The file lacks columns that the import needs. The member columns lists them."),
  invalid_archive: content("The archive is not valid", "The archive is damaged, nested, or contains names that are paths."),
  invalid_encoding: content(
    "The encoding is not valid",
    "Files must be UTF-8, UTF-16 with a byte order mark, or Latin-1 with options.encoding.",
  ),
  needs_date_dimension: content("The file has no dates", "The file has totals without days. The detail names the export that has them."),
  ambiguous_date: content("The order of day and month is ambiguous", "Name the format of the timestamps in options.mapping."),
  website_id_required: content(
    "A website must be chosen",
    "The files hold several websites. The member choices lists them for options.website_id.",
  ),
  mapping_required: content("A mapping is required", "Name the columns in options.mapping. The preview proposes a mapping."),
  nothing_to_import: content("There is nothing to import", "No row of the files can be imported. The preview lists the reasons."),
  no_effective_days: content(
    "No day would count",
    "Every day of the files is excluded by native data, by retention or because it lies in the future.",
  ),
  checksum_mismatch: content("The checksum does not match", "The uploaded bytes do not have the announced SHA-256. Upload the file again."),
  too_many_rejects: content(
    "Too many lines were rejected",
    "More than half of the lines were rejected. Set options.accept_rejects to import the rest.",
  ),
  analytics_not_connected: state(
    "Google Analytics is not connected",
    "The connection to the Google account does not exist, has ended, or does not cover Google Analytics. The detail says what to do.",
  ),
  analytics_property_denied: content(
    "The property can't be read",
    "The connected account has no access to this property of Google Analytics. The detail says where to grant it.",
  ),
  analytics_api_disabled: content(
    "The Google Analytics Data API is turned off",
    "The Google Cloud project of the OAuth client or service account has not turned on the API. Turn it on and try again.",
  ),
  analytics_quota: {
    status: 429,
    title: "The quota of Google Analytics is used up",
    meaning: "Google Analytics allows no more requests for this property now. An import that is running continues by itself.",
  },
  archive_too_large: {
    status: 413,
    title: "The archive is too large",
    meaning: "The archive has too many entries, or its content is too large when unpacked.",
  },
  duplicate_import: state("The files were already imported", "An import of the site has the same content. Set force to import it again."),
  preview_mismatch: state(
    "The import differs from its preview",
    "Files, options or days have changed since the preview. Make a new preview.",
  ),
  source_missing: state("The files are no longer there", "The staged files of the import were deleted. Start a new import."),
  stream_key_lost: state(
    "The stream cannot be extended",
    "The key by which it recognizes lines was lost with the secret key of the instance. Undo the import and import the logs again.",
  ),
  upload_gap: state("The upload has a gap", "Bytes before this offset are missing. Continue at the offset in the member received."),
  upload_incomplete: state(
    "The upload is incomplete",
    "Not all announced bytes have arrived. Continue at the offset in the member received.",
  ),
} as const satisfies Record<string, PluginError>

export const importError = errorsOf(ERRORS)
export type ImportErrorCode = keyof typeof ERRORS
