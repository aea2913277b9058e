// Runs in a page that `gradcast report` wrote. The page is whole without it: this makes the pictures
// answer a pointer and a keyboard, the tables sort and filter, and the colours switch.
import {showFigures} from "./figures.js";
import {addPatterns} from "./patterns.js";
import {makeTablesSortable} from "./tables.js";
import {offerTheme} from "./theme.js";

offerTheme();
makeTablesSortable();
addPatterns();
showFigures();
