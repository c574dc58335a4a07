import { useEffect, useState } from "preact/hooks"
import { TextField } from "./fields.tsx"
import { passwordWords } from "./password-words.ts"

interface NewPasswordProps {
  label?: string
  value: string
  onValue(value: string): void
  /** Of whoever chooses it. */
  email?: string
  error?: string | undefined
  autofocus?: boolean
}

/** A password that is chosen now, and how good it is in words. What was refused is said until something else is typed. */
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
