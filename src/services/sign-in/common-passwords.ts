import { bitsOf } from "./common-password-bits.ts"
import { commonPasswordFilter } from "./common-password-list.ts" with { type: "macro" }

const FILTER = Buffer.from(commonPasswordFilter(), "base64")

/** Returns whether a lower-case password is one of the most common ones. About 1 in 15,000 uncommon passwords is reported as common. */
export const isCommonPassword = (password: string): boolean => bitsOf(password).every((bit) => (FILTER[bit >> 3]! >> (bit & 7)) & 1)
