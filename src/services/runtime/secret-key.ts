import { lstatSync, readFileSync } from "node:fs"
import { placesIn, refuseOthers } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { replaceFile } from "./files.ts"

const BYTES = 32

/** A key that was in use. It opens what it sealed, and its signatures of cookies are good until it ends. */
export interface FormerKey {
  key: Uint8Array
  /** Epoch milliseconds. */
  until: number
}

/** The keys of an instance. */
export interface SecretKeys {
  /** Seals and signs. */
  current: Uint8Array
  former: readonly FormerKey[]
  /** Of a rotation that has begun: the catalog says whether it has taken place. */
  next?: Uint8Array
  /** They stand in the configuration, so that nothing here changes them. */
  isConfigured: boolean
}

/** As the configuration names them. */
interface ConfiguredKeys {
  key: string | undefined
  previous: string | undefined
}

/**
 * The keys that seal secrets at rest: the configured ones, else those of `secret.key`, made at the first start. They are in no
 * backup; without them what was sealed stays unreadable.
 */
export function secretKeys(dataDir: string, configured: ConfiguredKeys, random: (bytes: number) => Uint8Array): SecretKeys {
  const former = configured.previous === undefined ? [] : [{ key: decoded(configured.previous), until: Number.POSITIVE_INFINITY }]
  if (configured.key !== undefined) return { current: decoded(configured.key), former, isConfigured: true }
  const path = placesIn(dataDir).key
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) {
    const keys = { current: random(BYTES), former: [], isConfigured: false }
    writeSecretKeys(dataDir, keys)
    return { ...keys, former }
  }
  refuseOthers(found, path, "0600")
  const keys = parsedKeys(readFileSync(path, "utf8"))
  if (!keys) throw new ExitFault("damaged", `${path} does not hold a key of ${BYTES} bytes: put the right file back`)
  return { ...keys, former: [...keys.former, ...former] }
}

/** Replaces the file with these keys. A key that is lost in a power cut would take every sealed secret with it. */
export function writeSecretKeys(dataDir: string, { current, former, next }: Omit<SecretKeys, "isConfigured">): void {
  const path = placesIn(dataDir).key
  const kept = former.filter(({ until }) => Number.isFinite(until))
  const lines = [
    base64(current),
    ...(next ? [`${base64(next)} next`] : []),
    ...kept.map(({ key, until }) => `${base64(key)} until ${new Date(until).toISOString()}`),
  ]
  replaceFile(path, `${lines.join("\n")}\n`)
}

/** One key a line, the current one first. */
function parsedKeys(text: string): SecretKeys | undefined {
  const lines = text.trim().split("\n")
  const keys: SecretKeys = { current: Buffer.from(lines[0]!.trim(), "base64"), former: [], isConfigured: false } // a text has a line
  for (const line of lines.slice(1)) {
    const [encoded = "", word, moment = ""] = line.trim().split(" ")
    const key = Buffer.from(encoded, "base64")
    if (word === "next") keys.next = key
    else keys.former = [...keys.former, { key, until: Date.parse(moment) }]
  }
  const all = [keys.current, ...(keys.next ? [keys.next] : []), ...keys.former.map(({ key }) => key)]
  const isWhole = all.every((key) => key.length === BYTES) && keys.former.every(({ until }) => Number.isFinite(until))
  return isWhole ? keys : undefined
}

const decoded = (text: string): Uint8Array => Buffer.from(text, /^[0-9a-fA-F]{64}$/.test(text) ? "hex" : "base64")
const base64 = (key: Uint8Array): string => Buffer.from(key).toString("base64")
