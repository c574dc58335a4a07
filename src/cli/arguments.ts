import { ExitFault } from "../services/exit.ts"
import type { Command } from "./command.ts"

export interface Arguments {
  given: Record<string, string>
  /** Flags of settings, by key. */
  settings: Record<string, string>
  json: boolean
  help: boolean
}

/** Finds the command by its longest words. No words at all mean `serve`. */
export function findCommand(argv: readonly string[], commands: readonly Command[]): { command: Command | undefined; rest: string[] } {
  const words = argv.slice(0, 2).filter((word, index) => !word.startsWith("-") && !argv[index - 1]?.startsWith("-"))
  for (const length of [2, 1]) {
    const command = words.length >= length ? commands.find(({ name }) => name === words.slice(0, length).join(" ")) : undefined
    if (command) return { command, rest: argv.slice(length) }
  }
  return { command: words.length === 0 ? commands.find(({ name }) => name === "serve") : undefined, rest: [...argv] }
}

/** Reads what follows the words of a command. Anything unknown, missing or given twice is exit code 64. */
export function readArguments(rest: readonly string[], command: Command, settingFlags: Readonly<Record<string, string>>): Arguments {
  const read: Arguments = { given: {}, settings: {}, json: false, help: false }
  const free: string[] = []
  const waiting = [...rest]
  while (waiting.length > 0) {
    const word = waiting.shift()!
    if (word.startsWith("--")) takeFlag(word, waiting, command, settingFlags, read)
    else if (word === "-h") read.help = true
    else free.push(word)
  }
  if (read.help) return read
  takeFree(free, command, read)
  const missing = Object.entries(command.flags ?? {}).find(([name, flag]) => flag.required && read.given[name] === undefined)
  if (missing) throw usageFault(command, `--${missing[0]} is missing`)
  return read
}

/** `footfall site create --name NAME …` */
export function usageOf({ name, takes = [], flags = {} }: Command): string {
  const words = takes.map((take) => (take.startsWith("[") ? take : `<${take}>`))
  const options = Object.entries(flags).map(([flag, { value, required }]) => {
    const text = value ? `--${flag} ${value}` : `--${flag}`
    return required ? text : `[${text}]`
  })
  return ["usage: footfall", name, ...words, ...options, "[--data-dir PATH]"].join(" ")
}

const usageFault = (command: Command, message: string): ExitFault => new ExitFault("usage", `${message}\n${usageOf(command)}`)

function takeFlag(
  word: string,
  waiting: string[],
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
  else into[key] = inline ?? nextValue(flag, waiting, command)
}

function split(text: string): [flag: string, value: string | undefined] {
  const at = text.indexOf("=")
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function nextValue(flag: string, waiting: string[], command: Command): string {
  const value = waiting.shift()
  if (value === undefined || value.startsWith("--")) throw usageFault(command, `--${flag} needs a value`)
  return value
}

function takeFree(free: readonly string[], command: Command, read: Arguments): void {
  const takes = command.takes ?? []
  if (free.length > takes.length) throw usageFault(command, `unexpected ${JSON.stringify(free[takes.length])}`)
  for (const [index, take] of takes.entries()) {
    const value = free[index]
    if (value !== undefined) read.given[take.replace(/[[\]]/g, "")] = value
    else if (!take.startsWith("[")) throw usageFault(command, `<${take}> is missing`)
  }
}
