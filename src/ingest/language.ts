import { COLLECT } from "../domain/limits.ts"
import { remembered } from "./remembered.ts"

const TAG = /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8})*$/i

/** A language tag in its usual spelling (`de-DE`, `zh-Hans-CN`); "" when it is none. */
export const languageOf = remembered(1_000, (sent: string): string => {
  const tag = sent.trim()
  if (tag.length > COLLECT.languageChars || !TAG.test(tag)) return ""
  const [language = "", ...rest] = tag.toLowerCase().split(/[-_]/)
  return [language, ...rest.map(subtag)].join("-")
})

/** The first language of an `Accept-Language` header. */
export function firstLanguage(header: string): string {
  const end = header.search(/[,;]/)
  return languageOf(end < 0 ? header : header.slice(0, end))
}

function subtag(part: string): string {
  if (part.length === 2) return part.toUpperCase()
  return part.length === 4 ? part[0]!.toUpperCase() + part.slice(1) : part
}
