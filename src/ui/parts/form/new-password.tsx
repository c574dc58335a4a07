import { useEffect, useState } from "preact/hooks"
import { PASSWORD } from "../../../domain/limits.ts"
import { caseKey, countCharacters } from "../../../domain/text.ts"
import { TextField } from "./fields.tsx"

interface NewPasswordProps {
  label?: string
  value: string
  onValue(value: string): void
  /** Email address of the user, which must not occur in the password. */
  email?: string
  error?: string | undefined
  autofocus?: boolean
}

/** Field for a new password with its strength in words. The server's error is shown until the input changes. */
export function NewPassword({ label = "Password", value, onValue, email, error, autofocus = false }: NewPasswordProps) {
  const [refused, setRefused] = useState(value)
  useEffect(() => setRefused(value), [error])
  return (
    <TextField
      label={label}
      type="password"
      autocomplete="new-password"
      value={value}
      onValue={onValue}
      autofocus={autofocus}
      error={value === refused ? error : undefined}
      note={<span aria-live="polite">{passwordStrength(value, email)}</span>}
    />
  )
}

const PASSWORD_ADVICE = `At least ${PASSWORD.min} characters. A few random words are easy to remember and hard to guess.`

/** Minimum number of distinct characters. */
const MIN_DISTINCT = 7

/** Describes the strength of a new password. Only the server knows whether it is a common password. */
export function passwordStrength(password: string, email = ""): string {
  const length = countCharacters(password)
  if (length === 0) return PASSWORD_ADVICE
  if (length < PASSWORD.min) return `Use at least ${PASSWORD.min} characters.`
  if (length > PASSWORD.max) return `Use at most ${PASSWORD.max} characters.`
  if (email !== "" && caseKey(password).includes(caseKey(email))) return "Weak: it contains your email address."
  if (new Set(password).size < MIN_DISTINCT) return "Weak: too many repeated characters."
  if (length >= 20) return "Strong."
  return length >= 16 ? "Good." : "Fair. Longer is better."
}
