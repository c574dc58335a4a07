import type { FileHead } from "../../source.ts"
import { beginsWithHost, combined, common, commonVhost, vhostCombined } from "./access-lines.ts"
import { bunny } from "./bunny.ts"
import { custom } from "./custom.ts"
import { caddy, type ElementReader, looksLikeCaddy, looksLikeNginx, nginxJson } from "./json-lines.ts"
import type { FormatOptions, LineReader } from "./record.ts"
import { w3c } from "./w3c.ts"

/** Formats of lines. Each file has a reader of its own, because some have a state. */
export const LINE_FORMATS: Readonly<Record<LineFormat, (options: FormatOptions) => LineReader>> = {
  combined,
  vhost_combined: vhostCombined,
  common,
  common_vhost: commonVhost,
  w3c,
  bunny,
  custom,
}
/** Formats of JSON objects. */
export const JSON_FORMATS: Readonly<Record<JsonFormat, (options: FormatOptions) => ElementReader>> = { caddy, nginx_json: nginxJson }

export type LineFormat = "combined" | "vhost_combined" | "common" | "common_vhost" | "w3c" | "bunny" | "custom"
export type JsonFormat = "caddy" | "nginx_json"
export type LogFormat = LineFormat | JsonFormat
export const LOG_FORMATS = [
  "combined",
  "vhost_combined",
  "common",
  "common_vhost",
  "w3c",
  "caddy",
  "nginx_json",
  "bunny",
  "custom",
] as const

export const isJsonFormat = (format: LogFormat): format is JsonFormat => Object.hasOwn(JSON_FORMATS, format)

/** Number of lines by which a format is detected. */
const SAMPLE_LINES = 50
/** Share of lines that have to fit. Logs contain broken lines, such as those of a server that was ended. */
const MIN_SHARE = 0.5
/** Formats without a marker of their own, the most specific first: a line of `combined` is one of `common` too. */
const CANDIDATES = ["combined", "vhost_combined", "common", "common_vhost", "bunny"] as const

/** A format and the share of lines that fit, 0 to 1. */
export interface Detection {
  format: LogFormat
  share: number
}

/** Detects the format of a log by its beginning. Never detects `custom`. */
export function detectFormat({ text }: Pick<FileHead, "text">): Detection | undefined {
  const start = text.trimStart()
  if (start.startsWith("#") && /^#Fields:.*\bc-ip\b/m.test(start)) return { format: "w3c", share: 1 }
  if (start.startsWith("{") || start.startsWith("[")) return detectJson(start)
  const sample = start
    .split(/\r?\n/, SAMPLE_LINES)
    .filter((line) => line !== "")
    // The beginning of a file ends within a line.
    .filter((_, index, lines) => lines.length === 1 || index < lines.length - 1 || start.endsWith("\n"))
  const options = { local: (at: number) => at, pattern: "" }
  const hosts = shareOf(sample, beginsWithHost)
  for (const format of CANDIDATES) {
    const isWithHost = format === "vhost_combined" || format === "common_vhost"
    if (format !== "bunny" && isWithHost !== hosts >= MIN_SHARE) continue
    const read = LINE_FORMATS[format](options)
    const share = shareOf(sample, (line) => typeof read(line) === "object")
    if (share >= MIN_SHARE) return { format, share }
  }
  return undefined
}

function detectJson(text: string): Detection | undefined {
  if (looksLikeCaddy(text)) return { format: "caddy", share: 1 }
  return looksLikeNginx(text) ? { format: "nginx_json", share: 1 } : undefined
}

const shareOf = (lines: readonly string[], fits: (line: string) => boolean): number =>
  lines.length === 0 ? 0 : lines.filter(fits).length / lines.length
