import { PASSWORD } from "../../domain/limits.ts"
import { caseKey, characters } from "../../domain/text.ts"

const PASSWORD_ADVICE = `At least ${PASSWORD.min} characters. Several words in a row are easy to keep in mind and hard to guess.`

/** Below so many different characters a password repeats itself. */
const VARIED = 7

/** How good a new password is, in words. The server decides whether it is among those that everybody tries. */
export function passwordWords(password: string, email = ""): string {
  const length = characters(password)
  if (length === 0) return PASSWORD_ADVICE
  if (length < PASSWORD.min) return `Too short: ${PASSWORD.min} characters are needed.`
  if (length > PASSWORD.max) return `Too long: ${PASSWORD.max} characters are the most.`
  if (email !== "" && caseKey(password).includes(caseKey(email))) return "Weak: your e-mail address is in it."
  if (new Set(password).size < VARIED) return "Weak: it repeats itself."
  if (length >= 20) return "Strong."
  return length >= 16 ? "Good." : "Fair. Longer is better."
}
