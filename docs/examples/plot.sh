glasshead plot distance-aware --out distances.png
glasshead plot distance-aware --w 0.3,-0.3 --v 0 --tokens 24 --out mild.svg
