import { Type as t } from "@sinclair/typebox"
import { jsonElements } from "../../reading/json.ts"
import type { InputFile, Sink, Source } from "../../source.ts"
import { readLine, TotalsSums } from "../totals-rows.ts"
import { API_TABLES, type ApiTable } from "./api-tables.ts"
import { countsOf, type Dimensions, isAutomatic, type Metrics, textsOf } from "./rows.ts"
import { readDate } from "./values.ts"

/**
 * Google Analytics 4 through its Data API. The reports are fetched into one file per table, with an object per row whose names and texts are
 * those of the API, and then read like files that were sent.
 */
export const ga4Api: Source = {
  id: "ga4_api",
  title: "Google Analytics 4",
  kinds: ["aggregate"],
  formats: [],
  files: [],
  isFetched: true,
  options: t.Object({
    connection_id: t.Integer({ minimum: 1, title: "Google account", description: "Id of the connection to a Google account." }),
    property: t.String({
      pattern: "^properties/[0-9]{1,20}$",
      title: "Property",
      description: "Property of Google Analytics 4, such as `properties/123456789`.",
    }),
  }),
  recognize: (file, own) => {
    const table = own && API_TABLES.find(({ name }) => file.name === `${name}.ndjson`)
    return table && { confidence: 1, table: table.kind }
  },
  async read(files, _, sink) {
    // Sources include utm_source.
    for (const what of ["exit_pages", "browser_versions", "utm_source"]) sink.unsupported(what)
    for (const file of files) {
      const table = API_TABLES.find(({ kind }) => kind === file.recognition.table)! // by `recognize`
      await readTable(file, table, sink)
    }
  },
}

async function readTable(file: InputFile, table: ApiTable, sink: Sink): Promise<void> {
  const sums = new TotalsSums(sink)
  for await (const group of jsonElements(file, "utf-8", sink)) {
    for (const { line, value } of group) {
      readLine(sink, file.name, line, () => {
        const dimensions = valuesOf<Dimensions>(table.dimensions, value)
        if (isAutomatic(table.kind, dimensions)) return sink.skip("not_imported_type")
        const counts = countsOf(table.kind, valuesOf<Metrics>(table.metrics, value))
        sums.add(table.kind, { file: file.name, line, ...readDate(String(value.date)), texts: textsOf(table.kind, dimensions), counts })
      })
    }
  }
  sums.flush()
}

/** Returns the values of a row by the names of the importers. */
const valuesOf = <Values>(names: Readonly<Record<string, string>>, row: Readonly<Record<string, unknown>>): Values =>
  Object.fromEntries(Object.entries(names).map(([name, own]) => [own, String(row[name] ?? "")])) as Values
