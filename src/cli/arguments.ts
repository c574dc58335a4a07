import { ExitFault } from "../services/runtime/exit.ts"
import type { Command } from "./command.ts"

export interface Arguments {
  given: Record<string, string>
  /** Values of an argument that takes several. */
  rest: string[]
  /** Settings given as flags, by key. */
  settings: Record<string, string>
  json: boolean
  help: boolean
}

/** Finds the command with the longest matching name. Without any words, returns `serve`. */
export function findCommand(argv: readonly string[], commands: readonly Command[]): { command: Command | undefined; rest: string[] } {
  const words = argv.slice(0, 2).filter((word, index) => !word.startsWith("-") && !argv[index - 1]?.startsWith("-"))
  for (const length of [2, 1]) {
    const command = words.length >= length ? commands.find(({ name }) => name === words.slice(0, length).join(" ")) : undefined
    if (command) return { command, rest: argv.slice(length) }
  }
  return { command: words.length === 0 ? commands.find(({ name }) => name === "serve") : undefined, rest: [...argv] }
}

/** Parses flags and arguments of a command. Throws a usage fault (exit code 64) for anything unknown, missing or repeated. */
export function readArguments(rest: readonly string[], command: Command, settingFlags: Readonly<Record<string, string>>): Arguments {
  const read: Arguments = { given: {}, rest: [], settings: {}, json: false, help: false }
  const positional: string[] = []
  const remaining = [...rest]
  while (remaining.length > 0) {
    const word = remaining.shift()!
    if (word.startsWith("--")) readFlag(word, remaining, command, settingFlags, read)
    else if (word === "-h") read.help = true
    else positional.push(word)
  }
  if (read.help) return read
  readPositional(positional, command, read)
  const missing = Object.entries(command.flags ?? {}).find(([name, flag]) => flag.required && read.given[name] === undefined)
  if (missing) throw usageFault(command, `--${missing[0]} is missing`)
  return read
}

/** Returns the usage line, such as `footfall site create --name NAME …`. */
export function usageOf({ name, takes = [], flags = {} }: Command): string {
  const words = takes.map((take) => (take.startsWith("[") ? take : `<${take}>`))
  const options = Object.entries(flags).map(([flag, { value, required }]) => {
    const text = value ? `--${flag} ${value}` : `--${flag}`
    return required ? text : `[${text}]`
  })
  return ["usage: footfall", name, ...words, ...options, "[--data-dir PATH]"].join(" ")
}

const usageFault = (command: Command, message: string): ExitFault => new ExitFault("usage", `${message}\n${usageOf(command)}`)

function readFlag(
  word: string,
  remaining: string[],
  command: Command,
  settingFlags: Readonly<Record<string, string>>,
  read: Arguments,
): void {
  const [flag, inline] = split(word.slice(2))
  const own = command.flags?.[flag]
  if (!own && (flag === "help" || flag === "json")) {
    read[flag] = true
    return
  }
  if (!own && flag !== "config" && !Object.hasOwn(settingFlags, flag)) throw usageFault(command, `unknown flag --${flag}`)
  const [into, key] = own ? [read.given, flag] : [read.settings, flag.replaceAll("-", "_")]
  if (into[key] !== undefined) throw usageFault(command, `--${flag} is given twice`)
  if (own && !own.value) into[key] = "1"
  else into[key] = inline ?? nextValue(flag, remaining, command)
}

function split(text: string): [flag: string, value: string | undefined] {
  const at = text.indexOf("=")
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function nextValue(flag: string, remaining: string[], command: Command): string {
  const value = remaining.shift()
  if (value === undefined || value.startsWith("--")) throw usageFault(command, `--${flag} needs a value`)
  return value
}

function readPositional(positional: readonly string[], command: Command, read: Arguments): void {
  const takes = command.takes ?? []
  const takesMore = takes.at(-1)?.includes("…") === true
  if (takesMore) read.rest = positional.slice(takes.length - 1)
  else if (positional.length > takes.length) throw usageFault(command, `unexpected ${JSON.stringify(positional[takes.length])}`)
  for (const [index, take] of takes.entries()) {
    const value = positional[index]
    if (value !== undefined) read.given[take.replace(/[[\]]/g, "")] = value
    else if (!take.startsWith("[")) throw usageFault(command, `<${take}> is missing`)
  }
}

/** Parses a whole number within bounds. Throws a usage fault (exit code 64) for anything else. */
export function wholeNumber(text: string, name: string, { min, max }: { min: number; max: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new ExitFault("usage", `${name} must be a whole number from ${min} to ${max}`)
}

/** Splits a comma-separated list and drops empty items. */
export const list = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** Formats epoch milliseconds as ISO 8601. */
export const instant = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
