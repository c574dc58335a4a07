import { closeSync, fsyncSync, lstatSync, openSync, readFileSync, writeSync } from "node:fs"
import { placesIn, refuseOthers } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"

const BYTES = 32

/**
 * The key that seals secrets at rest: the configured one, else `secret.key`, made at the first start. It is in no backup;
 * without it what was sealed stays unreadable.
 */
export function secretKey(dataDir: string, configured: string | undefined, random: (bytes: number) => Uint8Array): Uint8Array {
  if (configured !== undefined) return Buffer.from(configured, /^[0-9a-fA-F]{64}$/.test(configured) ? "hex" : "base64")
  const path = placesIn(dataDir).key
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return create(path, random(BYTES))
  refuseOthers(found, path, "0600")
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64")
  if (key.length !== BYTES) throw new ExitFault("damaged", `${path} does not hold a key of ${BYTES} bytes: put the right file back`)
  return key
}

function create(path: string, key: Uint8Array): Uint8Array {
  const file = openSync(path, "wx", 0o600)
  try {
    writeSync(file, `${Buffer.from(key).toString("base64")}\n`)
    // A key that is lost in a power cut takes every sealed secret with it.
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return key
}
