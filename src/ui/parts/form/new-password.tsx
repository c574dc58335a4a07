import { useEffect, useState } from "preact/hooks"
import { TextField } from "./fields.tsx"
import { passwordWords } from "./password-words.ts"

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
      note={<span aria-live="polite">{passwordWords(value, email)}</span>}
    />
  )
}
