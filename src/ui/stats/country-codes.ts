import { countryName } from "./value-text.ts"

const MOST_CODES = 50

/** Codes of the countries whose names hold a text; as many as one filter takes. */
export function countryCodes(text: string): string[] {
  const wanted = text.toLowerCase()
  return CODES.filter((code) => code.toLowerCase() === wanted || countryName(code)?.toLowerCase().includes(wanted)).slice(0, MOST_CODES)
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
/** All pairs of letters: those that are no country have no name of their own. */
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
