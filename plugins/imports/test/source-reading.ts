import { fileHead } from "../reading/text.ts"
import { ImportFault, type InputFile, type ReadOptions, type Sink, type Source, type SourceEvent, type SourceRefund } from "../source.ts"

/** Reads files with a source and collects everything that it reports, for tests. */
export interface Reading {
  events: SourceEvent[]
  totals: Parameters<Sink["totals"]>[]
  refunds: SourceRefund[]
  rejects: [file: string, line: number, code: string, excerpt: string][]
  skips: Record<string, number>
  warnings: string[]
  choices: Record<string, readonly { id: string; rows: number }[]>
  unsupported: string[]
  mapping?: object
  read: number
  /** Code, message and members of the fault that ended the reading. */
  fault?: { code: string; message: string; members: Readonly<Record<string, unknown>> }
}

/** Bytes of a piece of a file: few, so that rows and characters are split between pieces. */
const PIECE = 61

/** Returns a file as a source gets it, or undefined if the source does not recognize it or refuses it. */
export function inputFile(source: Source, name: string, content: string | Uint8Array, own: ReadOptions["own"] = {}): InputFile | undefined {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  const head = fileHead(name, bytes.subarray(0, 65_536))
  const recognition = source.recognize(head, own)
  if (!recognition || recognition.refusal) return undefined
  return {
    ...head,
    recognition,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
    },
  }
}

/** Reads files by name. Files that the source does not recognize are left out. `more` receives what few sources report. */
export async function readWith(
  source: Source,
  files: Readonly<Record<string, string>>,
  options: Partial<ReadOptions> = {},
  more: Pick<Sink, "definitions"> = {},
): Promise<Reading> {
  const reading: Reading = {
    events: [],
    totals: [],
    refunds: [],
    rejects: [],
    skips: {},
    warnings: [],
    choices: {},
    unsupported: [],
    read: 0,
  }
  const sink: Sink = {
    event: (event) => void reading.events.push(event),
    totals: (...given) => void reading.totals.push(given),
    refund: (refund) => void reading.refunds.push(refund),
    reject: (...given) => void reading.rejects.push(given),
    skip(reason, rows = 1) {
      reading.skips[reason] = (reading.skips[reason] ?? 0) + rows
    },
    read(rows) {
      reading.read += rows
    },
    warn(code) {
      if (!reading.warnings.includes(code)) reading.warnings.push(code)
    },
    unsupported: (what) => void reading.unsupported.push(what),
    choices(name, choices) {
      reading.choices[name] = choices
    },
    mapping(mapping) {
      reading.mapping = mapping
    },
    check: () => {},
    ...more,
  }
  const inputs = Object.entries(files).flatMap(([name, content]) => inputFile(source, name, content, options.own) ?? [])
  try {
    await source.read(inputs, { ...OPTIONS, ...options }, sink)
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error
    const { code, message, members } = error
    reading.fault = { code, message, members }
  }
  return reading
}

const OPTIONS: ReadOptions = {
  timezone: "Europe/Berlin",
  siteTimezone: "Europe/Berlin",
  hostname: "shop.example",
  currency: "EUR",
  isPreview: false,
  own: {},
}

/** Counts things by a key. */
export function countBy<Thing>(things: readonly Thing[], key: (thing: Thing) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const thing of things) counts[key(thing)] = (counts[key(thing)] ?? 0) + 1
  return counts
}

/** Returns the day of an event in UTC. */
export const utcDay = ({ at }: SourceEvent): string => new Date(at).toISOString().slice(0, 10)
