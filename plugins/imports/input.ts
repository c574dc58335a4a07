import { Type as t } from "@sinclair/typebox"
import { AppError, type Fault, fault, inspect, isObject, readBytes, readJsonAsSent, refuseFaults, type SentJson } from "#plugin"
import { importError } from "./errors.ts"
import { optionsOf } from "./options.ts"
import { SOURCES, sourceById } from "./sources/sources.ts"
import { isZone } from "./sources/times.ts"
import type { NewFile } from "./staging.ts"

/** The three shapes of input: JSON with the content of files, JSON with ids of uploads, and a form with files. */
export interface ImportInput {
  source: string | undefined
  options: Readonly<Record<string, unknown>>
  files: readonly NewFile[]
  uploadIds: readonly string[]
  label: string | undefined
  previewHash: string | undefined
  force: boolean
}

export const LIMITS = { json: 10 << 20, multipart: 100 << 20, files: 200, label: 100 } as const

const FileInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 255, description: "Name of the file." }),
    content: t.Optional(t.String({ description: "Content as text." })),
    content_base64: t.Optional(t.String({ description: "Content in base64. Instead of `content`." })),
  },
  { additionalProperties: false },
)

export const PreviewInput = t.Object(
  {
    source: t.Optional(
      t.String({ minLength: 1, maxLength: 40, description: "Id of the source. Detected in a preview, required for a run." }),
    ),
    options: t.Optional(t.Record(t.String(), t.Any(), { description: "Options of the source, see `importers`." })),
    files: t.Optional(t.Array(FileInput, { minItems: 1, maxItems: LIMITS.files, description: "Files with their content." })),
    upload_ids: t.Optional(
      t.Array(t.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: 5,
        description: "Complete uploads. Instead of `files`.",
      }),
    ),
  },
  { additionalProperties: false, title: "ImportPreviewInput" },
)
export const RunInput = t.Object(
  {
    ...PreviewInput.properties,
    preview_hash: t.Optional(
      t.String({ minLength: 1, maxLength: 64, description: "Hash of the preview. A run that would do something else is refused." }),
    ),
    label: t.Optional(
      t.String({ minLength: 1, maxLength: LIMITS.label, description: "Name of the import. Default: the source and its files." }),
    ),
    force: t.Optional(t.Boolean({ description: "Whether to import content again that was imported before." })),
  },
  { additionalProperties: false, title: "ImportInput" },
)

/** A body as it was sent. Files of a form stay apart from its fields. */
export interface SentImport extends SentJson {
  files?: readonly NewFile[]
}

const readJsonBody = readJsonAsSent(LIMITS.json)

/** Reads a body of JSON or a form with files. */
export async function readImport(request: Request, contentType: string | undefined): Promise<SentImport> {
  if (contentType !== "multipart/form-data") return readJsonBody(request, contentType)
  const bytes = await readBytes(request, LIMITS.multipart)
  const form = await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": request.headers.get("content-type")! } })
    .formData()
    .catch(() => {
      throw new AppError("invalid_json", "The form could not be read.")
    })
  const value: Record<string, unknown> = {}
  const files: NewFile[] = []
  for (const [name, part] of form) {
    if (part instanceof File) files.push({ name: part.name || name, content: part })
    else value[name] = name === "options" ? parseOptions(part) : name === "force" ? part === "true" : part
  }
  return { value, bytes, files }
}

/** Parses the options of a form or of the command line. */
export function parseOptions(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError("invalid_json", "The options are not valid JSON.")
  }
}

/** Validates a body. Reports all faults at once. */
export function parseInput({ value, files }: SentImport, kind: "preview" | "run"): ImportInput {
  const schema = kind === "run" ? RunInput : PreviewInput
  const { fields, faults } = inspect(schema as typeof RunInput, withoutContent(value))
  const { source, options: given = {}, upload_ids: uploadIds = [] } = fields
  const options = given.delimiter === "tab" ? { ...given, delimiter: "\t" } : given
  const all: Fault[] = [...faults]
  if (faults.length === 0) {
    if (source === undefined && kind === "run") all.push(fault("/source", "required", "is required"))
    if (source !== undefined && !sourceById(source)) throw unknownSource(source)
    const isFetched = source !== undefined && sourceById(source)?.isFetched === true
    const inputs = [fields.files, files?.length ? files : undefined, fields.upload_ids].filter((part) => part !== undefined)
    if (isFetched && inputs.length > 0)
      all.push(fault("/files", "exclusive", "must be left out, because Footfall fetches the data of this source"))
    if (!isFetched && inputs.length !== 1)
      all.push(fault("/files", inputs.length === 0 ? "required" : "exclusive", "or upload_ids must be given, not both"))
    all.push(...optionFaults(source, given))
  }
  refuseFaults(all)
  const { label, preview_hash: previewHash, force = false } = fields
  return { source, options, files: files?.length ? files : contentsOf(value, fields.files ?? []), uploadIds, label, previewHash, force }
}

const unknownSource = (source: string) =>
  importError("unrecognized_source", `There is no source ${source}. Available: ${SOURCES.map(({ id }) => id).join(", ")}.`)

/** Returns the faults of options. Without a source, each option must be one of some source. */
function optionFaults(source: string | undefined, options: Readonly<Record<string, unknown>>): Fault[] {
  const own = source === undefined ? undefined : sourceById(source)
  const schemas = (own ? [own] : SOURCES).map(optionsOf)
  const results = schemas.map((schema) => inspect(schema, options).faults)
  const least = results.toSorted((a, b) => a.length - b.length)[0] ?? []
  const zone = options.source_timezone
  const isStream = options.stream !== undefined
  const isReversed = typeof options.from === "string" && typeof options.to === "string" && options.from > options.to
  const days = ["from", "to"].filter((name) => typeof options[name] === "string" && !isDay(String(options[name])))
  return [
    ...least.map((one) => ({ ...one, pointer: `/options${one.pointer}` })),
    ...(typeof zone === "string" && !isZone(zone)
      ? [fault("/options/source_timezone", "invalid_choice", "must be an IANA time zone")]
      : []),
    ...(isStream ? WHOLE_LOG : [])
      .filter((name) => options[name] !== undefined)
      .map((name) => fault(`/options/${name}`, "exclusive", "can't be used with stream, which imports every line of a log once")),
    ...(isReversed ? [fault("/options/to", "invalid_range", "must not be before from")] : []),
    ...days.map((name) => fault(`/options/${name}`, "invalid_format", "must be a day such as 2026-11-21")),
  ]
}

/** Options that would leave out lines of a stream, which counts them as read, or that belong to a single run. */
const WHOLE_LOG = ["from", "to", "hostnames", "tables", "create_goals"]

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`))

/** Content is stored as it was sent: the rules for texts, which are trimmed and normalized, do not apply to it. */
function withoutContent(value: unknown): unknown {
  if (!isObject(value)) return value
  const { files, options } = value
  return {
    ...value,
    ...(Array.isArray(files) && { files: files.map((file) => (isObject(file) ? mapTexts(file) : file)) }),
    // A tab is not a clean text.
    ...(isObject(options) && options.delimiter === "\t" && { options: { ...options, delimiter: "tab" } }),
  }
}

const CONTENT_NAMES = ["content", "content_base64"]

const mapTexts = (file: Record<string, unknown>): object =>
  Object.fromEntries(
    Object.entries(file).map(([name, text]) => [name, CONTENT_NAMES.includes(name) && typeof text === "string" ? "-" : text]),
  )

function contentsOf(value: unknown, files: readonly { name: string }[]): NewFile[] {
  const sent = (value as { files?: { content?: string; content_base64?: string }[] }).files ?? [] // validated
  return files.map(({ name }, at) => {
    const { content, content_base64 = "" } = sent[at]!
    return { name, content: content !== undefined ? new TextEncoder().encode(content) : Buffer.from(content_base64, "base64") }
  })
}
