import { columnsOf, headerOf } from "../../reading/delimited.ts"
import { encodingOf, fileHead } from "../../reading/text.ts"
import { MAX_UNPACKED, type UnpackedFile, unpack } from "../../reading/unpack.ts"
import { type FileHead, ImportFault, type InputFile, type Recognition, type Source } from "../../source.ts"
import { SOURCES, sourceById } from "../../sources/sources.ts"
import type { FileReport, StageTask } from "../task.ts"

/** The files of an import: unpacked, recognized by a source, and hashed while they are read. */
export interface RecognizedFiles {
  source: Source
  confidence: number
  /** Files that the source reads. */
  inputs: readonly InputFile[]
  /** All files, those that are ignored included. */
  reports: FileReport[]
  delimiter: string | null
  encoding: string | null
  /** Returns the hash of the content, without byte order mark and with normalized line ends. */
  hash(): Promise<string>
  scannedBytes(): number
}

/** Returns the files of a run that has none. */
export const noFiles = ({ source }: Pick<StageTask, "source">): RecognizedFiles => ({
  source: sourceById(source ?? "") ?? SOURCES[0]!, // a run names its source
  ...{ confidence: 1, inputs: [], reports: [], delimiter: null, encoding: null },
  hash: async () => "",
  scannedBytes: () => 0,
})

/** Unpacks and recognizes files. Throws an `ImportFault` if no source reads any of them. `onBytes` is called with every piece that is read. */
export async function recognizeFiles(task: StageTask, onBytes: (bytes: number) => void): Promise<RecognizedFiles> {
  const packed = task.files.map(({ name, path }) => ({ name, content: Bun.file(path) }))
  const files = await unpack(packed, task.isInline ? MAX_UNPACKED.inline : MAX_UNPACKED.staged)
  const encoding = typeof task.options.encoding === "string" ? task.options.encoding : undefined
  const heads = files.map((file) => ({ file, head: fileHead(file.name, file.head, encoding) }))
  const candidates = task.source === undefined ? SOURCES : [sourceById(task.source)].filter((source) => source !== undefined)
  const found = candidates.map((source) => {
    const recognitions = heads.map(({ head }) => source.recognize(head, task.source === undefined ? undefined : task.options))
    const readable = recognitions.filter((one) => one && !one.refusal) as Recognition[] // just filtered
    return { source, recognitions, confidence: Math.max(0, ...readable.map(({ confidence }) => confidence)), readable: readable.length }
  })
  const best = found.toSorted((a, b) => b.confidence - a.confidence || b.readable - a.readable)[0]
  const refusal = strongestRefusal(found)
  // Any table can be read as CSV, also a wrong export that its source knows how to replace.
  const isKnownBetter = refusal !== undefined && best !== undefined && best.confidence <= ANY_TABLE && refusal.confidence > ANY_TABLE
  if (!best || best.readable === 0 || isKnownBetter) throw refusal ? faultOf(refusal) : unrecognized(candidates, heads)
  let scanned = 0
  const hashes = new Map<string, string>()
  const counted = (bytes: number) => {
    scanned += bytes
    onBytes(bytes)
  }
  const inputs = heads.flatMap(({ file, head }, at): InputFile[] => {
    const recognition = best.recognitions[at]
    if (!recognition || recognition.refusal) return []
    return [{ ...head, recognition, chunks: () => hashed(file, counted, hashes) }]
  })
  const [first] = inputs
  const reports = heads.map(({ file, head }, at): FileReport => {
    const recognition = best.recognitions[at]
    const isRead = recognition !== undefined && !recognition.refusal
    const reason = isRead ? undefined : (recognition?.refusal?.code ?? "unrecognized_source")
    const columns = isRead ? columnsOfTable(best.source, recognition.table, head, task.options) : { columns: [], ignored: [] }
    return { name: file.name, table: recognition?.table ?? null, rows: 0, ...columns, ...(reason && { reason }) }
  })
  return {
    source: best.source,
    confidence: best.confidence,
    inputs,
    reports,
    delimiter: reports.some(({ columns }) => columns.length > 0) ? (headerOf(first!)?.delimiter ?? null) : null,
    encoding: first ? encodingOf(first, encoding) : null,
    scannedBytes: () => scanned,
    async hash() {
      for (const input of inputs) if (!hashes.has(input.name)) for await (const _ of input.chunks());
      const parts = inputs.map(({ name, recognition }) => `${recognition.table ?? ""} ${hashes.get(name)}`).sort()
      return new Bun.CryptoHasher("sha256").update([best.source.id, ...parts].join("\n")).digest("hex")
    },
  }
}

const NO_COLUMNS = { columns: [], ignored: [] }

/** Returns the columns of a delimited file by the table that it holds. A file without a header, such as a log, has none: it would show a raw line. */
function columnsOfTable(source: Source, table: string | undefined, head: FileHead, options: StageTask["options"]) {
  if (!source.formats.includes("csv") || /\.(json|ndjson|jsonl|sql)$/i.test(head.name)) return NO_COLUMNS
  const header = headerOf(head, typeof options.delimiter === "string" ? { delimiter: options.delimiter } : {})
  if (!header || header.names.length < 2) return NO_COLUMNS
  const rules = source.files.find(({ name }) => name === table) ?? (source.files.length === 1 ? source.files[0] : undefined)
  if (!rules) return NO_COLUMNS
  const isFree = rules.required.length + rules.optional.length === 0
  return isFree ? { columns: [...header.names], ignored: [] } : columnsOf(header, rules)
}

/** Confidence of a source that reads any table with a header. */
const ANY_TABLE = 0.1

type Refused = Recognition & { refusal: NonNullable<Recognition["refusal"]> }

/** Returns what the surest source says about a file that cannot be read. */
function strongestRefusal(found: readonly { recognitions: readonly (Recognition | undefined)[] }[]): Refused | undefined {
  const refused = found.flatMap(({ recognitions }) => recognitions.filter((one): one is Refused => one?.refusal !== undefined))
  return refused.toSorted((a, b) => b.confidence - a.confidence)[0]
}

const faultOf = ({ refusal: { code, message } }: Refused) => new ImportFault(code, message)

type Head = { file: UnpackedFile; head: FileHead }

/** Returns the fault of files that no source knows: what they seem to be, and what can be imported. */
function unrecognized(candidates: readonly Source[], heads: readonly Head[]): ImportFault {
  if (heads.every(({ head }) => head.bytes.length === 0))
    return new ImportFault("nothing_to_import", `${names(heads)} ${heads.length === 1 ? "is" : "are"} empty. Make the export again.`)
  for (const { head } of heads) encodingOf(head) // throws for UTF-16 without a byte order mark
  const [first] = heads
  const [only] = candidates
  const isChosen = only !== undefined && candidates.length === 1
  const remedy = isChosen
    ? "Send the files as they were exported, or choose another source."
    : `Send the files as they were exported. The sources are ${candidates.map(({ title }) => title).join(", ")}.`
  const content = first && wrongContent(first)
  return new ImportFault(
    "unrecognized_source",
    content ?? `${unread(heads, isChosen ? `the source ${only.title}` : "any source")} ${remedy}`,
  )
}

/** Returns the sentence that says which files no source reads. */
function unread(heads: readonly Head[], reader: string): string {
  const archive = heads[0]?.file.archive
  if (archive !== undefined) return `The archive ${archive} holds ${names(heads)}, but no file that ${reader} reads.`
  return heads.length === 1
    ? `${names(heads)} is not a file that ${reader} reads.`
    : `None of the files is one that ${reader} reads: ${names(heads)}.`
}

const NAMED_FILES = 5

function names(heads: readonly Head[]): string {
  const more = heads.length > NAMED_FILES ? ` and ${heads.length - NAMED_FILES} more` : ""
  return (
    heads
      .slice(0, NAMED_FILES)
      .map(({ file }) => file.name)
      .join(", ") + more
  )
}

/** Returns what is wrong with a kind of file that people send by mistake, or undefined. */
function wrongContent({ file: { name, archive }, head: { text } }: Head): string | undefined {
  if (/^\s*(?:<!doctype html|<html)/i.test(text))
    return `${name} is a web page, perhaps one that asks to sign in. Download the export again and check that it opens as a table.`
  if (archive !== undefined && name === "[Content_Types].xml")
    return `${archive} is an Excel workbook, which can't be read. Save each sheet as CSV (UTF-8) and send these files.`
  return undefined
}

/** Yields the content of a file. The first complete pass stores its hash. */
async function* hashed(file: UnpackedFile, onBytes: (bytes: number) => void, hashes: Map<string, string>): AsyncGenerator<Uint8Array> {
  const hasher = hashes.has(file.name) ? undefined : normalizingHash()
  for await (const piece of file.chunks()) {
    onBytes(piece.length)
    hasher?.update(piece)
    yield piece
  }
  if (hasher) hashes.set(file.name, hasher.digest())
}

const RETURN = 13
const FEED = 10
const MARK = [0xef, 0xbb, 0xbf]

/** Hashes content without byte order mark, with line feeds as line ends. */
function normalizingHash() {
  const hasher = new Bun.CryptoHasher("sha256")
  let isFirst = true
  let endsWithReturn = false
  return {
    update(piece: Uint8Array) {
      let bytes = piece
      if (isFirst && MARK.every((byte, at) => bytes[at] === byte)) bytes = bytes.subarray(MARK.length)
      isFirst = false
      if (endsWithReturn && bytes.length > 0 && bytes[0] !== FEED) hasher.update("\r")
      if (bytes.length > 0) endsWithReturn = false
      if (bytes.indexOf(RETURN) < 0) return void hasher.update(bytes)
      const kept = new Uint8Array(bytes.length)
      let length = 0
      for (let at = 0; at < bytes.length; at++) {
        const isLineEnd = bytes[at] === RETURN && (at + 1 === bytes.length || bytes[at + 1] === FEED)
        if (!isLineEnd) kept[length++] = bytes[at]!
      }
      endsWithReturn = bytes.at(-1) === RETURN
      hasher.update(kept.subarray(0, length))
    },
    digest(): string {
      if (endsWithReturn) hasher.update("\r")
      return hasher.digest("hex")
    },
  }
}
