import { ExitFault } from "../services/exit.ts"

/** What people write on the command line, as values. Anything else is exit code 64. */
export function wholeNumber(text: string, name: string, { min, max }: { min: number; max: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new ExitFault("usage", `${name} must be a whole number from ${min} to ${max}`)
}

export const list = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

export const instant = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
