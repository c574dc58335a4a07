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
