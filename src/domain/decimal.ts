/** A decimal number as text: its sign, and the digits before and after the point without the zeros that do not matter. */
interface Decimal {
  isNegative: boolean
  whole: string
  fraction: string
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * Returns a test of how a text compares with a decimal number, as digits and therefore exactly. `holds` receives a negative, zero or
 * positive order. Text in any other form, such as `1e3`, never passes.
 */
export function decimalTest(value: string, holds: (order: number) => boolean): (text: string) => boolean {
  const wanted = readDecimal(value)
  if (!wanted) return () => false
  return (text) => {
    const decimal = readDecimal(text)
    return decimal !== undefined && holds(compareDecimals(decimal, wanted))
  }
}

function readDecimal(text: string): Decimal | undefined {
  const [, sign, digits, decimals = ""] = DECIMAL.exec(text) ?? []
  if (digits === undefined) return undefined
  const [whole, fraction] = [withoutLeadingZeros(digits), withoutTrailingZeros(decimals)]
  return { isNegative: sign === "-" && (whole !== "" || fraction !== ""), whole, fraction }
}

function compareDecimals(left: Decimal, right: Decimal): number {
  if (left.isNegative !== right.isNegative) return left.isNegative ? -1 : 1
  const order =
    left.whole.length - right.whole.length || compareDigits(left.whole, right.whole) || compareDigits(left.fraction, right.fraction)
  return left.isNegative ? -order : order
}

const compareDigits = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

function withoutLeadingZeros(digits: string): string {
  let from = 0
  while (digits[from] === "0") from++
  return digits.slice(from)
}

function withoutTrailingZeros(digits: string): string {
  let to = digits.length
  while (digits[to - 1] === "0") to--
  return digits.slice(0, to)
}
