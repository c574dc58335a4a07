import { expect, test } from "bun:test"
import { withConfigurationTable } from "../../scripts/readme.ts"

test("the README lists every setting as the schema has it", async () => {
  const readme = await Bun.file(`${import.meta.dir}/../../README.md`).text()
  expect(readme).toBe(withConfigurationTable(readme))
})
