import { NO_VALUE, numberText } from "./format.ts"

/** Formats bytes as 12 MB. */
export function bytesText(bytes: number | undefined): string {
  if (bytes === undefined) return NO_VALUE
  const units = ["B", "kB", "MB", "GB", "TB"]
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${numberText(bytes / 1_000 ** step, { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`
}
