/** Memoizes a function by its arguments. `Intl` formatters are expensive to construct. */
export function memoize<Given extends unknown[], Result>(create: (...given: Given) => Result): (...given: Given) => Result {
  const all = new Map<string, Result>()
  return (...given) => {
    const key = JSON.stringify(given)
    const result = all.get(key) ?? create(...given)
    all.set(key, result)
    return result
  }
}
