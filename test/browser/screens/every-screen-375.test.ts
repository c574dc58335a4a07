import { bySize } from "../../size.ts"
import { everyScreen } from "./every-screen.ts"
import { SCREENS } from "./screens.ts"

/** Phones have only a few layouts of the same parts. The check size tests one screen of each. */
const NAMES = ["sign-in", "all sites", "dashboard", "dashboard with its chart as a table", "goal dialog", "organization, keys", "console"]
const few = SCREENS.filter(({ name }) => NAMES.includes(name))

everyScreen({ width: 375, themes: ["dark", "light"], screens: bySize({ check: few, full: SCREENS, release: SCREENS }) })
