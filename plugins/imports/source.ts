import type { TObject } from "@sinclair/typebox"
import type { ImportedKind, ImportedRow, VisitorKind, VisitTraits } from "#plugin"

/**
 * The contract of the sources. A source recognizes the files of one product and reads them into events or totals. It runs in a worker:
 * no clock, no network, no store. What is the same for all of them (archives, encodings, enrichment, visits, overlap) is not its business.
 */
export interface Source {
  id: string
  title: string
  kinds: readonly ("rows" | "aggregate")[]
  /** File formats as people call them, such as `zip` and `csv`. */
  formats: readonly string[]
  /** Whether the area fetches the data itself. Then no files are sent, and none is recognized unless the source was chosen. */
  isFetched?: true
  /** Files that belong to an export, for the list of importers. */
  files: readonly SourceFile[]
  /** Options of its own. The common ones are added. */
  options: TObject
  /**
   * Returns how sure it is that a file is one of its own, from 0 to 1, and which table it holds. `own` are its options if the source was
   * chosen, and absent while sources are tried.
   */
  recognize(file: FileHead, own?: ReadOptions["own"]): Recognition | undefined
  /**
   * Reads all files in the given order, once. Faults of a line go to `sink.reject`; a fault that makes the import impossible is thrown as
   * an `ImportFault`.
   */
  read(files: readonly InputFile[], options: ReadOptions, sink: Sink): Promise<void>
}

/** A table of an export, as `GET /importers` describes it. */
export interface SourceFile {
  name: string
  required: readonly string[]
  optional: readonly string[]
}

/** The beginning of a file. */
export interface FileHead {
  name: string
  /** Up to 64 KiB, unpacked. */
  bytes: Uint8Array
  /** The same as text without byte order mark. */
  text: string
}

export interface Recognition {
  confidence: number
  /** Table of the export that the file holds, such as `imported_pages` or `website_event`. */
  table?: string
  /** Why the file is ignored, or refused if nothing else can be imported: a code and a text that names the export to make instead. */
  refusal?: { code: ImportFaultCode; message: string }
}

/** An unpacked file. */
export interface InputFile extends FileHead {
  recognition: Recognition
  /** Returns the content in chunks. Can be called once more for a second pass. */
  chunks(): AsyncIterable<Uint8Array>
}

export interface ReadOptions {
  /** Zone of the site, or of `source_timezone`: for times without a zone. */
  timezone: string
  /** Zone of `source_timezone`, for sources whose times without a zone are in UTC by default. */
  sourceTimezone?: string | undefined
  /** Zone of the site. */
  siteTimezone: string
  hostname: string
  currency: string
  /** Encoding and delimiter, if they are given and not detected. */
  encoding?: string | undefined
  delimiter?: string | undefined
  /** Whether only the first rows are read, to preview them. */
  isPreview: boolean
  /** The source's own options, validated. */
  own: Readonly<Record<string, unknown>>
  /** Of a stream: the lines that were read before. */
  coverage?: LineCoverage | undefined
}

/** Notes the lines of a stream and knows those of its earlier runs. */
export interface LineCoverage {
  /** Begins a file. Lines that files of one run have in common count once. */
  startFile(): void
  /** Returns whether a line was read before, and notes it. `at` is its time as epoch milliseconds. */
  isCovered(at: number, line: string): boolean
}

/** Receives what a source reads. Every call is cheap and synchronous. */
export interface Sink {
  event(event: SourceEvent): void
  totals(kind: ImportedKind, row: ImportedRow & { file: string; line: number }): void
  /** Hands on a refund that is no event of a visit. */
  refund(refund: SourceRefund): void
  /** Refuses a line. `excerpt` is the faulty value, never the line, and never an address. */
  reject(file: string, line: number, code: RejectCode, excerpt: string): void
  skip(reason: SkipReason, rows?: number): void
  /** Counts lines read, for progress and for the share of rejects. */
  read(rows: number): void
  warn(code: string, message: string, file?: string): void
  /** Names a table or part of the export that cannot be imported, such as `exit_pages`. */
  unsupported(what: string): void
  /** Lists choices that the run needs, such as website ids with their rows. */
  choices(name: string, choices: readonly { id: string; rows: number }[]): void
  /** Tells a preview which mapping was used or is proposed. */
  mapping(mapping: object): void
  /** Hands on definitions of a site, as its archive has them, if they are to be created. */
  definitions?(kind: "goals" | "funnels" | "annotations" | "segments", items: readonly object[]): void
  /** Throws when nobody waits any more or a limit of the preview is reached. */
  check(): void
}

/** An event of a row-level source, before enrichment. Texts are as the source has them. */
export interface SourceEvent {
  file: string
  line: number
  /** UTC epoch milliseconds. */
  at: number
  /** `pageview`, `engagement`, or the name of a custom event. */
  name: string
  /** Name of the visitor in the source. "" with a `sender`, from which the visitor is derived, or for a visitor of its own. */
  visitor: string
  /** Default: rotating. */
  visitorKind?: VisitorKind
  /** Id of the event in the source. Each id counts once per import, because overlapping exports repeat rows. */
  id?: string
  /** Id of the visit in the source. Without one, visits are rebuilt by the rule of 30 minutes. */
  visit?: string
  /** The site's own id of the user. */
  userId?: string
  /** Address and user agent. They are turned into a visitor and a place at once, and never written. */
  sender?: { address: string; userAgent: string }
  /** Full URL, or its parts. */
  url?: string
  hostname?: string
  /** Path with query string. */
  path?: string
  title?: string
  referrer?: string
  /** `utm_*` values, where the source has columns for them. They win over those of the URL. */
  utm?: Partial<Record<"utm_source" | "utm_medium" | "utm_campaign" | "utm_term" | "utm_content", string>>
  /** User agent, from which browser, system and device are read unless they are given. */
  userAgent?: string
  /** Traits that the source states. */
  traits?: Partial<VisitTraits>
  /** Default: true for custom events. */
  interactive?: boolean
  props?: readonly (readonly [key: string, value: string])[]
  /** Amount as decimal text. */
  revenue?: { amount: string; currency: string }
  engagement?: { engagedMs: number; scrollDepth?: number }
  /** Page as Footfall stores it, for its own archive. It is not derived from the URL again. */
  page?: string
  /** For `vitals` only. `cls` has no unit, the others are milliseconds. */
  vitals?: { lcp?: number; inp?: number; fcp?: number; ttfb?: number; cls?: number }
}

/** A refund of an order. Texts are as the source has them. */
export interface SourceRefund {
  file: string
  line: number
  /** UTC epoch milliseconds. */
  at: number
  /** Id of the refund, unique within the source. */
  id: string
  /** Id of the order that is refunded; "" if the source does not name it. */
  order: string
  hostname: string
  /** Amount as decimal text, which is not negative. */
  amount: string
  currency: string
}

export type RejectCode = "bad_date" | "bad_number" | "negative_count" | "bad_url" | "too_long" | "wrong_column_count"
export type SkipReason =
  | "bot"
  | "not_a_pageview"
  | "not_imported_type"
  | "already_imported"
  | "repeated_row"
  | "filtered"
  | "revenue_invalid"

export type ImportFaultCode =
  | "unrecognized_source"
  | "unsupported_version"
  | "missing_columns"
  | "invalid_archive"
  | "invalid_encoding"
  | "needs_date_dimension"
  | "ambiguous_date"
  | "website_id_required"
  | "mapping_required"
  | "nothing_to_import"
  | "archive_too_large"

/** A fault of the content that ends the import. The message names the file, the line, the cause and the remedy. */
export class ImportFault extends Error {
  constructor(
    readonly code: ImportFaultCode,
    message: string,
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
  }
}
