/** The entry point of the process. Starts slow work on other threads before it loads the program itself. */
import { unpackNativePart } from "./store/catalog/native-part.ts"

// Files are readable by their owner only.
process.umask(0o077)
void unpackNativePart()
const { runProgram } = await import("./program.ts")
process.exit(await runProgram(Bun.argv.slice(2)))
