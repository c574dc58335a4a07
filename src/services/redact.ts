import { REDACTED } from "../domain/audit.ts"

/** Names of fields whose values nobody is to read. */
const SECRET_NAME = /pass(word|phrase|wd)?$|secret|token|cookie|authorization|credential|api_?key|private_?key|sealed/i
/** Keys of ours, bearer tokens, and user names with passwords in addresses. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/\bff_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/g, `ff_${REDACTED}`],
  [/\bBearer\s+[\w.~+/=-]{8,}/gi, `Bearer ${REDACTED}`],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:]{1,200}:[^\s/@]{1,200}@/gi, `$1${REDACTED}@`],
  [/((?:\b|_)(?:token|secret|password|passphrase|code|signature)=)[^\s&"']{1,2000}/gi, `$1${REDACTED}`],
]

/** A value as it may be shown to whoever runs the instance: secrets are known by the name of their field, or by their form. */
export function redacted(value: unknown, name = ""): unknown {
  if (value !== null && value !== undefined && typeof value !== "boolean" && SECRET_NAME.test(name)) return REDACTED
  if (typeof value === "string") return redactedText(value)
  if (Array.isArray(value)) return value.map((item) => redacted(item))
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redacted(inner, key)]))
  return value
}

export const redactedText = (text: string): string => SECRET_TEXTS.reduce((left, [form, by]) => left.replace(form, by), text)

/** What has no blank, bracket or mark of a list within it. Whether it is an address is asked of each alone: so a text is read once. */
const RUN = /[^\s<>()[\],;:"\\]+/g
const EMAIL = /[^@]@[^@]+\.[^@]/
const IPV4 = /\b(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2})?\b/g
const GROUPS = /(?<![\w.])[0-9a-f:]{3,45}(?:\/\d{1,3})?(?!\w)/gi

/** Of what holds digits and colons: two groups or more with a letter or a gap, or five, so that times of day stay. */
function isIpv6(text: string): boolean {
  const colons = text.split(":").length - 1
  return colons >= 5 || (colons >= 2 && /[a-f]|::/i.test(text))
}

/** A text that may leave the house: without addresses of machines, and with a user's id for an e-mail address. */
export const anonymous = (text: string, idOf: (email: string) => number | undefined): string =>
  text
    .replace(RUN, (run) => {
      if (!EMAIL.test(run)) return run
      const id = idOf(run)
      return id === undefined ? "(e-mail)" : `user ${id}`
    })
    .replace(IPV4, "(address)")
    .replace(GROUPS, (groups) => (isIpv6(groups) ? "(address)" : groups))
