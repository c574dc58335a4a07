import { lstatSync, readFileSync } from "node:fs"
import { placesIn, refuseOthers } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { replaceFile } from "./files.ts"

const BYTES = 32

/** A former key. It decrypts the values that it encrypted, and its cookie signatures are valid until `until`. */
export interface FormerKey {
  key: Uint8Array
  /** Epoch milliseconds. */
  until: number
}

/** The keys of an instance. */
export interface SecretKeys {
  /** Encrypts and signs. */
  current: Uint8Array
  former: readonly FormerKey[]
  /** New key of a rotation that has begun. The catalog records whether the rotation was completed. */
  next?: Uint8Array
  /** Whether the keys are set in the configuration, so that Footfall cannot change them. */
  isConfigured: boolean
}

/** The keys in the configuration. */
interface ConfiguredKeys {
  key: string | undefined
  previous: string | undefined
}

/**
 * Returns the keys that encrypt stored secrets: those in the configuration, or those in `secret.key`, which the first start creates.
 * Backups do not contain them, and encrypted values cannot be recovered without them.
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
  if (!keys) throw new ExitFault("damaged", `${path} does not contain a key of ${BYTES} bytes. Restore the original file`)
  return { ...keys, former: [...keys.former, ...former] }
}

/** Replaces the key file atomically, because without the key no encrypted secret could be recovered after a power cut. */
export function writeSecretKeys(dataDir: string, { current, former, next }: Omit<SecretKeys, "isConfigured">): void {
  const path = placesIn(dataDir).key
  const limited = former.filter(({ until }) => Number.isFinite(until))
  const lines = [
    base64(current),
    ...(next ? [`${base64(next)} next`] : []),
    ...limited.map(({ key, until }) => `${base64(key)} until ${new Date(until).toISOString()}`),
  ]
  replaceFile(path, `${lines.join("\n")}\n`)
}

/** Parses a key file: one key per line, the current one first. */
function parsedKeys(text: string): SecretKeys | undefined {
  const lines = text.trim().split("\n")
  const keys: SecretKeys = { current: Buffer.from(lines[0]!.trim(), "base64"), former: [], isConfigured: false } // every text has at least one line
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
