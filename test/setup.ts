import { afterEach } from "bun:test"

// Removes variables that a test leaves behind, because they would configure the instances of all later tests.
const before = new Map(Object.entries(process.env).filter(([name]) => name.startsWith("FOOTFALL_")))
afterEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("FOOTFALL_") && !before.has(name)) delete process.env[name]
})
