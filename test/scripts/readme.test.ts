import { expect, test } from "bun:test"
import { areaTable } from "../../config/table.ts"
import { plugins } from "../../plugins/index.ts"
import { withConfigurationTable } from "../../scripts/readme.ts"

const readme = await Bun.file(`${import.meta.dir}/../../README.md`).text()

test("the README lists every setting as the schema declares it", () => {
  expect(readme).toBe(withConfigurationTable(readme))
})

test.each(plugins.filter(({ settings }) => settings))("the README lists the settings of $id as its schema declares them", (plugin) => {
  expect(readme).toContain(`\n${areaTable(plugin)}\n`)
})
