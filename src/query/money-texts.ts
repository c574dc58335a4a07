/** An amount for people: `€500.2M` and `€500,200,700.25`. */
interface MoneyTexts {
  short: string
  long: string
}

/** Writes amounts of one currency, in major units, as English texts. */
export function moneyTexts(currency: string): (amount: number) => MoneyTexts {
  const style = { style: "currency", currency } as const
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  const short = new Intl.NumberFormat("en-US", { ...style, ...digits, notation: "compact" })
  const long = new Intl.NumberFormat("en-US", style)
  return (amount) => ({ short: short.format(amount), long: long.format(amount) })
}
