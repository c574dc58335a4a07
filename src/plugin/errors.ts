import { AppError, ERROR_CODES, type PluginErrorCode } from "../domain/error.ts"

/** Error code of a plugin, as its answers and the page `/errors/<code>` describe it. */
export interface PluginError {
  /** HTTP status from 400 to 499. */
  status: number
  title: string
  /** What happened and what to do, for the page `/errors/<code>`. */
  meaning: string
}

/** Returns the function with which a plugin creates errors that have the codes of its `errors`. */
export const errorsOf =
  <Code extends string>(_errors: Readonly<Record<Code, PluginError>>) =>
  (code: Code, detail: string, members?: AppError["members"]): AppError =>
    new AppError(code as string as PluginErrorCode, detail, members) // the codes of a plugin are checked when it is loaded

/** The codes of all plugins that this process has loaded. Codes are constants of the program, so one table serves all instances. */
const declared = new Map<string, PluginError>()

export function declareErrors(errors: Readonly<Record<string, PluginError>>): void {
  for (const [code, error] of Object.entries(errors)) declared.set(code, error)
}

export const pluginError = (code: string): PluginError | undefined => declared.get(code)

/** Returns the codes of the core and of all loaded plugins. */
export const allErrorCodes = () => [...ERROR_CODES, ...([...declared.keys()] as PluginErrorCode[])] // its keys are codes of plugins
