/** The first moments of the process: what takes long on other threads begins before the program itself is loaded. */
import { unpackNativePart } from "./store/catalog/native-part.ts"

// Whatever is written is for its owner alone.
process.umask(0o077)
void unpackNativePart()
const { runProgram } = await import("./program.ts")
process.exit(await runProgram(Bun.argv.slice(2)))
