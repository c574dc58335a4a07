/** `bun scripts/readme.ts` writes the configuration tables into the README. A test checks that they are up to date. */
import { areaTable, configurationTable } from "../config/table.ts"
import { plugins } from "../plugins/index.ts"

const BLOCK = /(<!-- configuration: [^>]*-->\n)[\s\S]*?(\n<!-- end of configuration -->)/
const AREAS = /(<!-- settings of areas: [^>]*-->\n)[\s\S]*?(\n<!-- end of settings of areas -->)/

/** Returns the README's text with the current table of the schema. */
export const withConfigurationTable = (readme: string): string => withBlock(readme, BLOCK, configurationTable())

/** Returns the README's text with the current tables of the plugins' settings. */
export const withAreaTables = (readme: string): string =>
  withBlock(readme, AREAS, plugins.flatMap((plugin) => areaTable(plugin) ?? []).join("\n\n"))

function withBlock(readme: string, block: RegExp, content: string): string {
  if (!block.test(readme)) throw new Error("The README has lost the place of a table of settings")
  return readme.replace(block, (_, before: string, after: string) => `${before}\n${content}\n${after}`)
}

if (import.meta.main) {
  const file = Bun.file(`${import.meta.dir}/../README.md`)
  await file.write(withAreaTables(withConfigurationTable(await file.text())))
}
