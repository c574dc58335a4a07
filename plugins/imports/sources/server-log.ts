import { Type as t } from "@sinclair/typebox"
import { jsonElements } from "../reading/json.ts"
import { type Content, encodingOf, lines, type ReadingSink } from "../reading/text.ts"
import { ImportFault, type InputFile, type ReadOptions, type RejectCode, type Sink, type Source, type SourceEvent } from "../source.ts"
import { detectFormat, isJsonFormat, JSON_FORMATS, LINE_FORMATS, LOG_FORMATS, type LogFormat } from "./server-log/formats.ts"
import type { FormatOptions, LogRecord } from "./server-log/record.ts"
import { fromLocal } from "./times.ts"
import { countryOf, languageTag, stated } from "./traits.ts"

/** Switches that are on unless they are turned off. */
const ON = { default: true }

/**
 * Logs of web servers. Visitors are found by address and user agent, which leave this file only as `sender`: rejects of a log carry no
 * excerpt. Bots are recognized later by the shared enrichment.
 */
export const serverLog: Source = {
  id: "server_log",
  title: "Server log",
  kinds: ["rows"],
  formats: ["log", "txt", "json", "gz"],
  files: [{ name: "access_log", required: [], optional: [] }],
  options: t.Object({
    format: t.Optional(
      t.Union(
        LOG_FORMATS.map((format) => t.Literal(format)),
        { description: "Format of the lines. Default: detected." },
      ),
    ),
    pattern: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 2_000,
        description: "Pattern of nginx variables, such as `$remote_addr`. Only with format custom.",
      }),
    ),
    exclude_static: t.Optional(
      t.Boolean({
        ...ON,
        title: "Leave out static files",
        description: "Whether requests for images, scripts and the like are left out. Default: true.",
      }),
    ),
    exclude_redirects: t.Optional(
      t.Boolean({
        ...ON,
        title: "Leave out redirects",
        description: "Whether answers with status 300 to 303 are left out. Default: true.",
      }),
    ),
    record_404: t.Optional(
      t.Boolean({
        ...ON,
        title: "Record pages that were not found",
        description: "Whether status 404 becomes the event `404`. Default: true.",
      }),
    ),
    stream: t.Optional(
      t.String({ minLength: 1, maxLength: 64, description: "Name of a log that grows. Later runs with this name extend the import." }),
    ),
  }),
  recognize(file, own) {
    const detected = detectFormat(file)
    if (detected) return { confidence: 0.8 * detected.share, table: "access_log" }
    // Lines of any other kind can only be read if their format is stated.
    if (own?.format !== undefined) return { confidence: 0.1, table: "access_log" }
    return own && { confidence: 0.1, refusal: { code: "unrecognized_source", message: unknownFormat(file.name) } }
  },
  async read(files, options, sink) {
    const request = requestReader(options, sink)
    for (const file of files) {
      options.coverage?.startFile()
      await readLog(file, options, sink, request)
    }
  },
}

/** Takes a request of a log. `line` is its text, by which a stream knows it again. */
type TakeRequest = (file: string, number: number, line: string, record: LogRecord | RejectCode | undefined) => void

async function readLog(file: InputFile, options: ReadOptions, sink: Sink, take: TakeRequest): Promise<void> {
  const format = formatOf(file, options)
  const formatOptions: FormatOptions = { local: fromLocal(options.timezone), pattern: String(options.own.pattern ?? "") }
  const encoding = encodingOf(file, options.encoding)
  const reading: ReadingSink = {
    read: (rows) => sink.read(rows),
    // Neither readers nor formats may quote a line: it contains an address.
    reject: (name, line, code) => sink.reject(name, line, code, ""),
    warn: (code, message, name) => sink.warn(code, message, name),
    check: () => sink.check(),
  }
  const content = encoding === "utf-8" ? replacingInvalid(file) : file
  if (isJsonFormat(format)) {
    const read = JSON_FORMATS[format](formatOptions)
    for await (const elements of jsonElements(content, encoding, reading)) {
      for (const { line, value } of elements) take(file.name, line, options.coverage ? JSON.stringify(value) : "", read(value))
    }
    return
  }
  const read = LINE_FORMATS[format](formatOptions)
  for await (const group of lines(content, encoding, reading)) {
    const described = group.filter(({ text }) => text !== "" && !(format === "w3c" && text.startsWith("#")))
    sink.read(described.length)
    for (const { line, text } of group) if (text !== "") take(file.name, line, text, read(text))
  }
}

function formatOf(file: InputFile, { own }: ReadOptions): LogFormat {
  const stated = LOG_FORMATS.find((format) => format === own.format)
  const format = stated ?? detectFormat(file)?.format
  if (format) return format
  throw new ImportFault("unrecognized_source", unknownFormat(file.name))
}

const unknownFormat = (name: string): string =>
  `The lines of ${name}, from line 1 on, have no known log format. Set the option format to one of ${LOG_FORMATS.join(", ")}; ` +
  "custom also takes a pattern."

/** Replaces bytes that are not UTF-8. Clients can put any bytes into a request, and one of them must not end the import. */
const replacingInvalid = (file: InputFile): Content => ({
  name: file.name,
  async *chunks() {
    const [decoder, encoder] = [new TextDecoder(), new TextEncoder()]
    for await (const chunk of file.chunks()) yield encoder.encode(decoder.decode(chunk, { stream: true }))
    yield encoder.encode(decoder.decode())
  },
})

/** Extensions of files that are parts of pages, not pages. */
const STATIC = new Set(`css js mjs map png jpg jpeg gif svg webp avif ico woff woff2 ttf otf eot mp4 webm mp3 txt xml json wasm`.split(" "))

/** Creates the function that turns requests into pageviews and events. */
function requestReader({ own, coverage, hostname }: ReadOptions, sink: Sink): TakeRequest {
  const excludesStatic = own.exclude_static !== false
  const excludesRedirects = own.exclude_redirects !== false
  const records404 = own.record_404 !== false

  const isPageview = ({ method, status }: LogRecord, path: string): boolean =>
    method === "GET" &&
    ((status >= 200 && status <= 299) || status === 304 || (!excludesRedirects && status >= 300 && status <= 303)) &&
    !(excludesStatic && STATIC.has(extensionOf(path)))

  return (file, number, line, record) => {
    if (record === undefined) return
    if (typeof record === "string") return sink.reject(file, number, record, "")
    if (coverage?.isCovered(record.at, line)) return sink.skip("already_imported")
    const { host, path, query } = splitTarget(record.target)
    const is404 = records404 && record.status === 404 && record.method !== ""
    if (!is404 && !isPageview(record, path)) return sink.skip("not_a_pageview")
    if (!path.startsWith("/")) return sink.reject(file, number, "bad_url", "")
    const { at, address, userAgent, referrer, country, language } = record
    const site = record.host || host || hostname
    const event: SourceEvent = {
      file,
      line: number,
      at,
      name: is404 ? "404" : "pageview",
      visitor: "",
      sender: { address, userAgent },
      // A path such as `//page` would be read as a host.
      ...(path.startsWith("//") ? { url: `http://${site || "localhost"}${path}${query}` } : { path: path + query }),
      hostname: site,
      userAgent,
    }
    if (referrer !== "") event.referrer = referrer
    if (is404) event.props = [["path", path]]
    if (country || language) event.traits = stated({ country: countryOf(country ?? ""), language: languageTag(language ?? "") })
    sink.event(event)
  }
}

/** Splits a target into its path and query. A proxy and Bunny log full URLs. */
function splitTarget(target: string): { host: string; path: string; query: string } {
  const [, host = "", rest = target] = target.startsWith("/") ? [] : (/^https?:\/\/([^/?#]*)(.*)$/is.exec(target) ?? [])
  const end = rest.search(/[?#]/)
  const path = end < 0 ? rest : rest.slice(0, end)
  return { host: host.replace(/:\d+$/, ""), path: host !== "" && path === "" ? "/" : path, query: end < 0 ? "" : rest.slice(end) }
}

function extensionOf(path: string): string {
  const dot = path.lastIndexOf(".")
  return dot < 0 || dot < path.lastIndexOf("/") ? "" : path.slice(dot + 1).toLowerCase()
}
