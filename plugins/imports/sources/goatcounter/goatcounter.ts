import { Type as t } from "@sinclair/typebox"
import { ImportFault, type Source } from "../../source.ts"
import { GOATCOUNTER_CSV_FILES, readGoatcounterCsv, recognizeGoatcounterCsv } from "./csv.ts"
import { GOATCOUNTER_JSON_FILES, readGoatcounterJson, recognizeGoatcounterJson } from "./json.ts"

/** GoatCounter: the CSV export with a row per pageview, or the JSON export with totals. */
export const goatcounter: Source = {
  id: "goatcounter",
  title: "GoatCounter",
  kinds: ["rows", "aggregate"],
  formats: ["csv", "zip"],
  files: [...GOATCOUNTER_CSV_FILES, ...GOATCOUNTER_JSON_FILES],
  options: t.Object({}),
  recognize: (file) => recognizeGoatcounterCsv(file) ?? recognizeGoatcounterJson(file),
  async read(files, options, sink) {
    const csv = files.filter(({ recognition }) => recognition.table?.startsWith("csv"))
    const json = files.filter((file) => !csv.includes(file))
    if (csv.length > 0 && json.length > 0) {
      const message = `${csv[0]!.name} and ${json[0]!.name} are the two exports of GoatCounter, which count the same visits. Import one of them.`
      throw new ImportFault("unrecognized_source", message)
    }
    await readGoatcounterCsv(csv, options, sink)
    if (json.length > 0) await readGoatcounterJson(json, options, sink)
  },
}
