/** `bun scripts/readme.ts` writes the configuration table into the README. A test holds that it has been run. */
import { configurationTable } from "../config/table.ts"

const BLOCK = /(<!-- configuration: [^>]*-->\n)[\s\S]*?(\n<!-- end of configuration -->)/

/** The README's text with the table as the schema has it now. */
export function withConfigurationTable(readme: string): string {
  if (!BLOCK.test(readme)) throw new Error("The README has lost the place of its configuration table")
  return readme.replace(BLOCK, (_, before: string, after: string) => `${before}\n${configurationTable()}\n${after}`)
}

if (import.meta.main) {
  const file = Bun.file(`${import.meta.dir}/../README.md`)
  await file.write(withConfigurationTable(await file.text()))
}
