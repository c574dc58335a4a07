import { memoize } from "#plugin"

/**
 * English names of the regions of the countries from which most visits come, by ISO 3166-2 code. Regions of other countries are not
 * imported where an export names them in words.
 */
const NAMES: Readonly<Record<string, string>> = {
  US: `AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|DC District of Columbia|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming`,
  CA: `AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NT Northwest Territories|NS Nova Scotia|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan|YT Yukon`,
  AU: `ACT Australian Capital Territory|NSW New South Wales|NT Northern Territory|QLD Queensland|SA South Australia|TAS Tasmania|VIC Victoria|WA Western Australia`,
  GB: `ENG England|NIR Northern Ireland|SCT Scotland|WLS Wales`,
  DE: `BW Baden-Württemberg|BY Bavaria|BE Berlin|BB Brandenburg|HB Bremen|HH Hamburg|HE Hesse|MV Mecklenburg-Vorpommern|NI Lower Saxony|NW North Rhine-Westphalia|RP Rhineland-Palatinate|SL Saarland|SN Saxony|ST Saxony-Anhalt|SH Schleswig-Holstein|TH Thuringia`,
  AT: `1 Burgenland|2 Carinthia|3 Lower Austria|4 Upper Austria|5 Salzburg|6 Styria|7 Tyrol|8 Vorarlberg|9 Vienna`,
  CH: `AG Aargau|AR Appenzell Ausserrhoden|AI Appenzell Innerrhoden|BL Basel-Landschaft|BS Basel-Stadt|BS Basel City|BE Canton of Bern|BE Bern|FR Fribourg|GE Geneva|GL Glarus|GR Grisons|GR Graubünden|JU Jura|LU Lucerne|NE Neuchâtel|NW Nidwalden|OW Obwalden|SH Schaffhausen|SZ Schwyz|SO Solothurn|SG St. Gallen|TG Thurgau|TI Ticino|UR Uri|VS Valais|VD Vaud|ZG Zug|ZH Zurich`,
  FR: `ARA Auvergne-Rhône-Alpes|BFC Bourgogne-Franche-Comté|BRE Brittany|CVL Centre-Val de Loire|20R Corsica|GES Grand Est|HDF Hauts-de-France|IDF Île-de-France|NOR Normandy|NAQ Nouvelle-Aquitaine|OCC Occitanie|PDL Pays de la Loire|PAC Provence-Alpes-Côte d'Azur`,
  NL: `DR Drenthe|FL Flevoland|FR Friesland|GE Gelderland|GR Groningen|LI Limburg|NB North Brabant|NH North Holland|OV Overijssel|UT Utrecht|ZE Zeeland|ZH South Holland`,
  ES: `AN Andalusia|AR Aragon|AS Asturias|CN Canary Islands|CB Cantabria|CM Castile-La Mancha|CL Castile and León|CT Catalonia|EX Extremadura|GA Galicia|IB Balearic Islands|RI La Rioja|MD Community of Madrid|MC Region of Murcia|NC Navarre|PV Basque Country|VC Valencian Community`,
  IT: `65 Abruzzo|77 Basilicata|78 Calabria|72 Campania|45 Emilia-Romagna|36 Friuli-Venezia Giulia|62 Lazio|42 Liguria|25 Lombardy|57 Marche|67 Molise|21 Piedmont|75 Apulia|88 Sardinia|82 Sicily|52 Tuscany|32 Trentino-Alto Adige|55 Umbria|23 Aosta Valley|34 Veneto`,
  PL: `02 Lower Silesian Voivodeship|04 Kuyavian-Pomeranian Voivodeship|06 Lublin Voivodeship|08 Lubusz Voivodeship|10 Łódź Voivodeship|12 Lesser Poland Voivodeship|14 Masovian Voivodeship|16 Opole Voivodeship|18 Podkarpackie Voivodeship|20 Podlaskie Voivodeship|22 Pomeranian Voivodeship|24 Silesian Voivodeship|26 Świętokrzyskie Voivodeship|28 Warmian-Masurian Voivodeship|30 Greater Poland Voivodeship|32 West Pomeranian Voivodeship`,
  BR: `AC State of Acre|AL State of Alagoas|AP State of Amapa|AM State of Amazonas|BA State of Bahia|CE State of Ceara|DF Federal District|ES State of Espirito Santo|GO State of Goias|MA State of Maranhao|MT State of Mato Grosso|MS State of Mato Grosso do Sul|MG State of Minas Gerais|PA State of Para|PB State of Paraiba|PR State of Parana|PE State of Pernambuco|PI State of Piaui|RJ State of Rio de Janeiro|RN State of Rio Grande do Norte|RS State of Rio Grande do Sul|RO State of Rondonia|RR State of Roraima|SC State of Santa Catarina|SP State of Sao Paulo|SE State of Sergipe|TO State of Tocantins`,
  IN: `AP Andhra Pradesh|AR Arunachal Pradesh|AS Assam|BR Bihar|CG Chhattisgarh|CH Chandigarh|DL Delhi|GA Goa|GJ Gujarat|HR Haryana|HP Himachal Pradesh|JH Jharkhand|JK Jammu and Kashmir|KA Karnataka|KL Kerala|LA Ladakh|MP Madhya Pradesh|MH Maharashtra|MN Manipur|ML Meghalaya|MZ Mizoram|NL Nagaland|OD Odisha|PB Punjab|PY Puducherry|RJ Rajasthan|SK Sikkim|TN Tamil Nadu|TS Telangana|TR Tripura|UP Uttar Pradesh|UK Uttarakhand|WB West Bengal`,
  JP: `01 Hokkaido|02 Aomori|03 Iwate|04 Miyagi|05 Akita|06 Yamagata|07 Fukushima|08 Ibaraki|09 Tochigi|10 Gunma|11 Saitama|12 Chiba|13 Tokyo|14 Kanagawa|15 Niigata|16 Toyama|17 Ishikawa|18 Fukui|19 Yamanashi|20 Nagano|21 Gifu|22 Shizuoka|23 Aichi|24 Mie|25 Shiga|26 Kyoto|27 Osaka|28 Hyogo|29 Nara|30 Wakayama|31 Tottori|32 Shimane|33 Okayama|34 Hiroshima|35 Yamaguchi|36 Tokushima|37 Kagawa|38 Ehime|39 Kochi|40 Fukuoka|41 Saga|42 Nagasaki|43 Kumamoto|44 Oita|45 Miyazaki|46 Kagoshima|47 Okinawa`,
}

/** Returns the ISO 3166-2 code of a region by its English name, such as `US-CA` for California; "" for unknown names. */
export function regionByName(country: string, name: string): string {
  const found = name === "" ? undefined : regionsOf(country).find((region) => SAME.compare(region.name, plain(name)) === 0)
  return found === undefined ? "" : `${country}-${found.code}`
}

/** Exports write some names with accents and others without, in any case. */
const SAME = new Intl.Collator("en", { sensitivity: "base" })

const regionsOf = memoize(300, (country: string): readonly { code: string; name: string }[] => {
  const entries = (NAMES[country] ?? "").split("|").filter((entry) => entry !== "")
  return entries.map((entry) => ({ code: entry.slice(0, entry.indexOf(" ")), name: plain(entry.slice(entry.indexOf(" ") + 1)) }))
})

/** Replaces typographic apostrophes, and a letter that has no accent to be ignored. */
const plain = (name: string): string => name.slice(0, 100).replaceAll("’", "'").replaceAll("ł", "l").replaceAll("Ł", "L")
