import { parseCurrency } from "../../../domain/currency.ts"
import { SelectField } from "./fields.tsx"

interface CurrencyFieldProps {
  label?: string
  value: string
  onValue(value: string): void
  note?: string
  error?: string | undefined
}

/** Select field for a currency by code and name. */
export function CurrencyField({ label = "Currency", value, ...others }: CurrencyFieldProps) {
  const names = new Intl.DisplayNames("en", { type: "currency" })
  const codes = new Set([...Intl.supportedValuesOf("currency").filter(parseCurrency), value])
  const options = [...codes].sort().map((code) => ({ value: code, label: `${code} – ${names.of(code)}` }))
  return <SelectField label={label} value={value} options={options} {...others} />
}
