import { afterEach } from "bun:test"

// A test that leaves a Footfall variable behind would configure the instances of all later ones.
const before = new Map(Object.entries(process.env).filter(([name]) => name.startsWith("FOOTFALL_")))
afterEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("FOOTFALL_") && !before.has(name)) delete process.env[name]
})
