import { sample } from "../../size.ts"
import { everyScreen } from "./every-screen.ts"
import { SCREENS } from "./screens.ts"

everyScreen({ width: 1280, themes: ["light", "dark"], screens: sample(SCREENS) })
