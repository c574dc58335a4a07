import { bitsOf } from "./common-password-bits.ts"
import { commonPasswordFilter } from "./common-password-list.ts" with { type: "macro" }

const FILTER = Buffer.from(commonPasswordFilter(), "base64")

/** Whether a password, without capital letters, is among the most common ones. One in some thousands is taken for one that is not. */
export const isCommonPassword = (password: string): boolean => bitsOf(password).every((bit) => (FILTER[bit >> 3]! >> (bit & 7)) & 1)
