import { parseCurrency } from "../../../domain/currency.ts"
import { SelectField } from "./fields.tsx"

interface ZoneFieldProps {
  label?: string
  value: string
  onValue(value: string): void
  error?: string | undefined
}

/** Returns the browser's time zone. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Select field for the IANA time zone of a site. A zone that the browser does not know stays selectable. */
export function ZoneField({ label = "Time zone", value, ...others }: ZoneFieldProps) {
  const zones = [...new Set([...Intl.supportedValuesOf("timeZone"), "UTC", value])].sort()
  return (
    <SelectField
      label={label}
      value={value}
      options={zones.map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
      note="Reports use this time zone, including for past data."
      {...others}
    />
  )
}

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

/** Regions by their currency. No guess is made for other regions. */
const REGIONS: Readonly<Record<string, string>> = {
  EUR: "AD AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MC ME MT NL PT SI SK SM VA XK",
  USD: "EC PR SV US",
  GBP: "GB GG IM JE",
  CHF: "CH LI",
  AUD: "AU",
  BRL: "BR",
  CAD: "CA",
  CLP: "CL",
  CNY: "CN",
  COP: "CO",
  CZK: "CZ",
  DKK: "DK FO GL",
  HKD: "HK",
  HUF: "HU",
  IDR: "ID",
  ILS: "IL",
  INR: "IN",
  ISK: "IS",
  JPY: "JP",
  KRW: "KR",
  MXN: "MX",
  MYR: "MY",
  NOK: "NO SJ",
  NZD: "NZ",
  PHP: "PH",
  PLN: "PL",
  RON: "RO",
  SEK: "SE",
  SGD: "SG",
  THB: "TH",
  TRY: "TR",
  TWD: "TW",
  UAH: "UA",
  VND: "VN",
  ZAR: "ZA",
}

/** Returns the currency of the first region in the browser's languages; undefined if there is none or it is not listed. */
export function browserCurrency(languages: readonly string[] = navigator.languages): string | undefined {
  const region = languages.map(regionOf).find((one) => one)
  return Object.keys(REGIONS).find((currency) => region !== undefined && REGIONS[currency]!.split(" ").includes(region))
}

function regionOf(language: string): string | undefined {
  try {
    return new Intl.Locale(language).region
  } catch {
    return undefined // some browsers report invalid language tags
  }
}
