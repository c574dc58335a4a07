/** Codes of ISO 4217 with another number of decimals than 2. Apart from the others, because the dashboard loads them first. */
export const UNUSUAL_DECIMALS = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
} as const

/**
 * Returns the options of `Intl.NumberFormat` for amounts of an active currency, with its decimals by ISO 4217. `Intl` has fewer for some,
 * such as the forint and the Iraqi dinar, and would round.
 */
export function currencyStyle(currency: string) {
  const [decimals] = Object.entries(UNUSUAL_DECIMALS).find(([, codes]) => codes.includes(currency)) ?? ["2"]
  return { style: "currency", currency, minimumFractionDigits: +decimals, maximumFractionDigits: +decimals } as const
}
