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

const EMAIL = /[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+\.[^\s@<>()[\],;:"\\]+/g
const IPV4 = /\b(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2})?\b/g
/** Two groups or more, so that times of day stay. */
const IPV6 =
  /(?<![\w.])(?=(?:[0-9a-f]*:){2,}[0-9a-f:]*)(?=[0-9a-f:]*[a-f]|[0-9a-f:]*::|(?:[0-9a-f]*:){5,})[0-9a-f:]{3,45}(?:\/\d{1,3})?(?![\w])/gi

/** A text that may leave the house: without addresses of machines, and with a user's id for an e-mail address. */
export const anonymous = (text: string, idOf: (email: string) => number | undefined): string =>
  text
    .replace(EMAIL, (email) => {
      const id = idOf(email)
      return id === undefined ? "(e-mail)" : `user ${id}`
    })
    .replace(IPV4, "(address)")
    .replace(IPV6, "(address)")
