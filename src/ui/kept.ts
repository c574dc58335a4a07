/** What is dear to make is made once for each thing it is made from: a format of `Intl` takes longer than a hundred numbers in it. */
export function kept<Given extends unknown[], Made>(make: (...given: Given) => Made): (...given: Given) => Made {
  const all = new Map<string, Made>()
  return (...given) => {
    const key = JSON.stringify(given)
    const made = all.get(key) ?? make(...given)
    all.set(key, made)
    return made
  }
}
