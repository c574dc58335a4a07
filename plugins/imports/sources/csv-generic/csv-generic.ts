import { delimited, headerOf, type Row } from "../../reading/delimited.ts"
import { type FileHead, ImportFault, type InputFile, type ReadOptions, type Recognition, type Sink, type Source } from "../../source.ts"
import { type FromLocal, fromLocal, localDays } from "../times.ts"
import { type CsvMapping, CsvOptions, mappingOf } from "./mapping.ts"
import { type Proposal, proposeMapping } from "./proposal.ts"
import { eventReader, totalsReader } from "./rows.ts"
import { type DateOrder, orderShownBy, timeParser } from "./times.ts"

/** Any delimited text with a header, read by a mapping of its columns. */
export const csvGeneric: Source = {
  id: "csv_generic",
  title: "CSV",
  kinds: ["rows", "aggregate"],
  formats: ["csv", "tsv", "zip"],
  files: [{ name: "*.csv", required: [], optional: [] }],
  options: CsvOptions,
  recognize: recognizeDelimited,
  async read(files, options, sink) {
    const mapping = options.own.mapping === undefined ? await proposedMapping(files, options, sink) : mappingOf(options.own)
    if (options.own.mapping !== undefined) sink.mapping({ kind: mapping.kind, dimension: mapping.dimension, mapping: options.own.mapping })
    const local = localTimes(mapping.time.timezone ?? options.timezone)
    const order = await dateOrder(files, mapping, options, sink)
    for (const file of files) await readFile(file, { mapping, order, local }, options, sink)
  },
}

/** Recognizes any table with at least two columns, so that every other source comes first. */
function recognizeDelimited(file: FileHead): Recognition | undefined {
  if (/^\s*[{[<]|^PGDMP|^%PDF/.test(file.text) || file.text.includes("\u0000")) return undefined
  const header = headerOf(file)
  const isHeader = header && header.names.length > 1 && header.names.every((name) => name.length <= 500 && !/[\r\n]/.test(name))
  return isHeader ? { confidence: 0.1, table: "csv" } : undefined
}

/** Number of rows by which a mapping is proposed. */
const PROPOSAL_ROWS = 200

/** Tells a preview which mapping is proposed and returns it. Throws `mapping_required` for a run, and when the proposal is not enough. */
async function proposedMapping(files: readonly InputFile[], options: ReadOptions, sink: Sink): Promise<CsvMapping> {
  const [file] = files
  const header = file && headerOf(file, options)
  if (!header) throw new ImportFault("nothing_to_import", "The files have no rows. Send a table with a header.")
  const { lacks, ...proposed } = proposeMapping(header.names, await firstRows(file, options, sink))
  const proposal = { ...proposed, columns: header.names }
  sink.mapping(proposal)
  if (!options.isPreview) {
    throw new ImportFault("mapping_required", "The option mapping is missing. Name the columns, or start from the proposal.", {
      mapping: proposal,
    })
  }
  if (lacks !== undefined) {
    const message = `The columns of ${file.name} were not recognized: ${lacks} is missing. Name the columns in the option mapping.`
    throw new ImportFault("mapping_required", message, { mapping: proposal })
  }
  return mappingOf(asOptions(proposal, options))
}

const asOptions = ({ kind, dimension, mapping }: Proposal, { own }: ReadOptions): ReadOptions["own"] => ({
  ...(dimension !== undefined && { dimension }),
  ...own,
  kind: own.kind ?? kind,
  mapping,
})

async function firstRows(file: InputFile, options: ReadOptions, sink: Sink): Promise<Row[]> {
  const first: Row[] = []
  for await (const rows of delimited(file, { required: [], accepts: () => true }, options, silent(sink))) {
    first.push(...rows)
    if (first.length >= PROPOSAL_ROWS) break
  }
  return first.slice(0, PROPOSAL_ROWS)
}

/** Returns a sink for a pass over rows that another pass counts. */
const silent = (sink: Sink) => ({ read: () => {}, reject: () => {}, warn: () => {}, check: () => sink.check() })

interface FileReading {
  mapping: CsvMapping
  order: DateOrder | undefined
  local: FromLocal
}

async function readFile(file: InputFile, { mapping, order, local }: FileReading, options: ReadOptions, sink: Sink): Promise<void> {
  const timezone = mapping.time.timezone ?? options.timezone
  const parse = timeParser(mapping.time.format, local, order)
  const time = (text: string): number | undefined => {
    const at = parse(text)
    if (at === undefined && order === undefined && mapping.time.format === "auto" && orderShownBy(text) === "unknown")
      throw ambiguous(file, text)
    return at
  }
  const reading = { file: file.name, mapping, currency: options.currency, sink, time, dayOf: localDays(timezone) }
  const readRow = mapping.kind === "events" ? eventReader(reading) : totalsReader(reading)
  const required = [...new Set([mapping.time.column, ...mapping.fields.values(), ...mapping.props.map(([, column]) => column)])]
  for await (const rows of delimited(file, { required }, options, sink)) for (const row of rows) readRow(row)
  const { fields } = mapping
  const named = ["visitor_id", "user_id", "visit_id", "ip"].some((field) => fields.has(field))
  if (mapping.kind !== "events" || named) return
  sink.warn("visits_approximate", `No column of ${file.name} names the visitor, so each row has a visitor of its own.`, file.name)
}

function localTimes(timezone: string): FromLocal {
  try {
    const local = fromLocal(timezone)
    local(0)
    return local
  } catch {
    throw new ImportFault(
      "mapping_required",
      `The time zone ${timezone.slice(0, 64)} of the mapping is unknown. Use an IANA name such as Europe/Berlin.`,
    )
  }
}

/**
 * Finds the order of day and month that the times of all files show. Reads them only as far as needed, and not at all when the first value
 * has another form. Throws `ambiguous_date` when no time decides.
 */
async function dateOrder(
  files: readonly InputFile[],
  mapping: CsvMapping,
  options: ReadOptions,
  sink: Sink,
): Promise<DateOrder | undefined> {
  if (mapping.time.format !== "auto") return undefined
  const column = mapping.time.column.toLowerCase()
  let open: { file: InputFile; text: string } | undefined
  for (const file of files) {
    for await (const rows of delimited(file, { required: [mapping.time.column] }, options, silent(sink))) {
      for (const row of rows) {
        const text = row.get(column)
        const shown = orderShownBy(text)
        if (shown === "day_first" || shown === "month_first") return shown
        if (shown === "unknown") open ??= { file, text }
      }
      if (!open) break
    }
  }
  if (open) throw ambiguous(open.file, open.text)
  return undefined
}

const ambiguous = (file: Pick<InputFile, "name">, text: string): ImportFault =>
  new ImportFault(
    "ambiguous_date",
    `${file.name} has times such as ${text.trim().slice(0, 40)}, in which day and month can't be distinguished. Set the format of the column to "dd/MM/yyyy HH:mm" or "MM/dd/yyyy HH:mm".`,
  )
