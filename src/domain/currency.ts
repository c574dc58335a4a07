import { UNUSUAL_DECIMALS } from "./currency-style.ts"

/**
 * The codes of ISO 4217's List One that have minor units, as published on 2026-09-17 and through amendment 180, by their
 * number of decimals. Codes without minor units are left out: metals, bond units, special drawing rights, test codes.
 */
const CODES_BY_DECIMALS = {
  ...UNUSUAL_DECIMALS,
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP
    COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD
    KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK
    NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT
    TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
} as const

const DECIMALS: ReadonlyMap<string, number> = new Map(
  Object.entries(CODES_BY_DECIMALS).flatMap(([decimals, codes]) => codes.split(/\s+/).map((code) => [code, Number(decimals)] as const)),
)

/** Returns the currency code in upper case, or undefined when it is not an active currency. */
export function parseCurrency(text: string): string | undefined {
  const code = text.toUpperCase()
  return DECIMALS.has(code) ? code : undefined
}

/** Returns the number of decimals of a currency: an amount in minor units is the amount × 10 ^ decimals. */
export const currencyDecimals = (code: string): number | undefined => DECIMALS.get(code)
