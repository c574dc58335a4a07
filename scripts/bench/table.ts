import { arch, cpus, platform, release, totalmem } from "node:os"

/** Formats a Markdown table with right-aligned numbers. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`
  const rule = head.map((_, column) =>
    typeof rows[0]?.[column] === "number" || /^[\d.,–]/.test(String(rows[0]?.[column])) ? "---:" : "---",
  )
  return [line(head), line(rule), ...rows.map(line)].join("\n")
}

/** Formats a number with one decimal below ten and none above. More would be noise. */
export const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0)
export const times = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)}×`
export const count = (value: number): string => Math.round(value).toLocaleString("en-US")

/** Describes machine and date, without which the figures mean nothing. */
export function occasion(now: number): string {
  const [cpu] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`
  const machine = `${cpus().length} cores (${cpu?.model.trim() ?? "unknown"}), ${memory}, ${platform()} ${release()} ${arch()}`
  return `Measured ${new Date(now).toISOString().slice(0, 10)} with Bun ${Bun.version} on ${machine}.`
}
